import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { DynamoDB } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocument } from '@aws-sdk/lib-dynamodb';
import { App } from 'aws-cdk-lib';
import { Bucket } from 'aws-cdk-lib/aws-s3';
import { STEPFUNCTIONS_USE_DISTRIBUTED_MAP_RESULT_WRITER_V2 } from 'aws-cdk-lib/cx-api';
import { startDynamoDbEmulator } from '../../../bin/local/emulators/dynamodb-emulator';
import type { Emulator } from '../../../bin/local/emulators/emulator-thread';
import { FunctionPool } from '../../../bin/local/functions/function-pool';
import { lambdaEnvironment } from '../../../bin/local/functions/lambda-environment';
import { findStrays } from '../../../lib/core';
import {
  INDEX,
  READ_UNITS_PER_SECOND,
  SEGMENTS_AT_ONCE,
  WRITE_UNITS_PER_SECOND,
} from '../../../lib/core/contract/function-environment';
import { describeWhere } from '../../support/describe-where';
import { PYTHON_NEEDED } from '../../support/fetched';
import { indexConfig } from '../../support/index-config';
import { createTable } from '../../support/sharded-tables';
import { BUCKET_NAME, definitionOf, reshardingStack } from '../../support/stacks/resharding-stack';
import { fetchInterpreter, interpret } from './interpreter';

/**
 * The definition that `IndexItemMover` synthesizes, run by an interpreter that others wrote, with the bundle that would be
 * deployed, on dynalite: `npm run conformance step-functions`.
 */

const ITEMS = 240;
const SEGMENTS = 4;

const byStatus = indexConfig({
  tableName: 'Orders',
  tableKey: ['orderId'],
  keyLayout: 'single-attribute',
  shardAttribute: 'byStatusShard',
  sortKeyAttributes: [],
  shards: { default: { write: 3, read: 3 } },
});

/** 15 seconds are kept for the answer, so one is left for the work, and a segment moves about 20 items in it. */
const TIMEOUT_SECONDS = 16;

function startMover(endpoint: string): FunctionPool {
  const definition = {
    path: 'Test/Mover',
    name: 'mover',
    arn: 'arn:aws:lambda:us-east-1:000000000000:function:mover',
    runtime: 'nodejs24.x',
    handler: 'index.handler',
    codeDirectory: join(process.cwd(), 'dist/lambda/item-mover'),
    environment: {
      [INDEX]: JSON.stringify(byStatus),
      [READ_UNITS_PER_SECOND]: '1000',
      [WRITE_UNITS_PER_SECOND]: '80',
      [SEGMENTS_AT_ONCE]: String(SEGMENTS),
    },
    timeoutSeconds: TIMEOUT_SECONDS,
    memoryMb: 512,
    unset: {},
  };
  const endpoints = { kinesis: endpoint, dynamodb: endpoint, lambda: endpoint };
  return new FunctionPool(definition, lambdaEnvironment(definition, endpoints), () => {});
}

const describeIf = describeWhere(fetchInterpreter(), PYTHON_NEEDED);

describeIf('an execution of IndexItemMover', () => {
  let emulator: Emulator;
  let dynamoDb: DynamoDB;
  let functions: Server;
  let url: string;
  let invocations: number;
  /** The bundle that would be deployed, with little time for each invocation. */
  let mover: FunctionPool;
  /** What fails before the handler sees it. */
  let failures: number;

  beforeAll(async () => {
    emulator = await startDynamoDbEmulator();
    const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };
    dynamoDb = new DynamoDB({ region: 'us-east-1', credentials, endpoint: emulator.endpoint });
    await createTable(dynamoDb, byStatus, { orderId: 'S', byStatusShard: 'S' });
    const documents = DynamoDBDocument.from(dynamoDb);
    for (let number = 0; number < ITEMS; number++) {
      await documents.put({ TableName: 'Orders', Item: { orderId: `o-${number}`, status: 'sent' } });
    }
    mover = startMover(emulator.endpoint);
    functions = createServer(async (request, response) => {
      const { payload } = JSON.parse(await text(request)) as { payload: object };
      invocations += 1;
      const failed = failures-- > 0;
      const answer = failed ? undefined : await mover.invoke(JSON.stringify(payload));
      response.writeHead(answer === undefined || answer.functionError ? 500 : 200);
      response.end(answer?.payload ?? '{"errorType":"Runtime.ExitError","errorMessage":"out of memory"}');
    }).listen(0, '127.0.0.1');
    await once(functions, 'listening');
    url = `http://127.0.0.1:${(functions.address() as AddressInfo).port}/`;
  }, 120_000);

  afterAll(async () => {
    functions?.close();
    await mover?.stop();
    dynamoDb?.destroy();
    await emulator?.stop();
  });

  beforeEach(() => {
    [invocations, failures] = [0, 0];
  });

  const sumOf = (output: unknown, field: string): number =>
    (output as Record<string, number>[]).reduce((sum, totals) => sum + totals[field]!, 0);

  /** The deployed machine waits for minutes between its attempts; here it waits for a second. */
  const execute = (input: object, stack = reshardingStack({ segments: SEGMENTS }).stack) => {
    const definition = definitionOf(stack);
    const writer = definition.States.Segments?.ResultWriter as { Parameters: Record<string, unknown> } | undefined;
    if (writer !== undefined) writer.Parameters.Prefix = 'strays/of-the-day';
    const impatient = JSON.stringify(definition).replace('"IntervalSeconds":5', '"IntervalSeconds":1');
    return interpret(JSON.parse(impatient.replace('"MaxAttempts":5', '"MaxAttempts":2')), input, url);
  };

  test('counts strays in an audit, and moves none', async () => {
    const { status, output } = await execute({ mode: 'audit' });
    expect(status).toBe('SUCCEEDED');
    expect(output).toHaveLength(SEGMENTS);
    expect(sumOf(output, 'hidden')).toBe(ITEMS);
    expect(sumOf(output, 'moved')).toBe(0);
  }, 120_000);

  /**
   * What the interpreter does not do: it writes the manifest of the report, and not the files with the answers of the segments that the
   * manifest of Step Functions names. It also requires a prefix, which Step Functions does not.
   */
  test.each([true, false])(
    'reports to S3, where its output says, by the second writer: %s',
    async (isSecond) => {
      const { stack } = reshardingStack(
        (scope) => ({
          segments: SEGMENTS,
          reportBucket: new Bucket(scope, 'Reports'),
        }),
        new App({ context: { [STEPFUNCTIONS_USE_DISTRIBUTED_MAP_RESULT_WRITER_V2]: isSecond } }),
      );
      const { status, output, objects } = await execute({ mode: 'audit' }, stack);
      expect(status).toBe('SUCCEEDED');
      expect(invocations).toBe(SEGMENTS);
      const { MapRunArn, ResultWriterDetails } = output as { MapRunArn: string; ResultWriterDetails: object };
      const Key = `strays/of-the-day/${MapRunArn.split(':').at(-1)}/manifest.json`;
      expect(ResultWriterDetails).toEqual({ Bucket: BUCKET_NAME, Key });
      expect(Object.keys(objects)).toEqual([Key]);
      expect(JSON.parse(objects[Key]!)).toMatchObject({ DestinationBucket: BUCKET_NAME, MapRunArn });
    },
    120_000,
  );

  test('moves nothing for an input that means something else', async () => {
    const { output } = await execute({ Mode: 'audit' });
    expect(output).toEqual(Array.from({ length: SEGMENTS }, () => null));
    expect((await findStrays(dynamoDb, byStatus)).hidden).toBe(ITEMS);
  }, 300_000);

  test('fails every segment for a mode that the function does not know, and moves nothing', async () => {
    // The interpreter tolerates every failure of a Distributed Map; Step Functions tolerates as many as the definition says.
    const { output } = await execute({ mode: 'delete' });
    expect(output).toEqual(Array.from({ length: SEGMENTS }, () => null));
    expect((await findStrays(dynamoDb, byStatus)).hidden).toBe(ITEMS);
  }, 300_000);

  test('moves every stray, over as many invocations as it takes, and past one that fails', async () => {
    failures = 1;
    const { status, output } = await execute({});
    expect(status).toBe('SUCCEEDED');
    expect(sumOf(output, 'moved')).toBe(ITEMS);
    expect(sumOf(output, 'itemsScanned')).toBe(ITEMS);
    expect(invocations).toBeGreaterThan(2 * SEGMENTS);
    const { strays } = await findStrays(dynamoDb, byStatus);
    expect(Object.values(strays).reduce((sum, count) => sum + count, 0)).toBe(0);
  }, 300_000);
});
