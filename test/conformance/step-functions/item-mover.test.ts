import { join } from 'node:path';
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
import { type LoopbackServer, startServer } from '../../support/loopback-server';
import { createTable } from '../../support/sharded-tables';
import { BUCKET_NAME, definitionOf, reshardingStack } from '../../support/stacks/resharding-stack';
import { fetchInterpreter, interpret } from './interpreter';

/**
 * Runs the state machine of `IndexItemMover` in moto's interpreter, with the bundled function on dynalite:
 * `npm run conformance step-functions`.
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

/** The function keeps 15 seconds for its response, so one second remains for the work. A segment moves about 20 items in a second. */
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
    layers: [],
    missingLayers: [],
  };
  const endpoints = { kinesis: endpoint, dynamodb: endpoint, lambda: endpoint };
  return new FunctionPool(definition, lambdaEnvironment(definition, endpoints));
}

const describeIf = describeWhere(fetchInterpreter(), PYTHON_NEEDED);

describeIf('an execution of IndexItemMover', () => {
  let emulator: Emulator;
  let dynamoDb: DynamoDB;
  let functions: LoopbackServer;
  let invocations: number;
  /** The bundled function with a short timeout. */
  let mover: FunctionPool;
  /** How many of the next requests fail before the handler runs. */
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
    functions = await startServer(async (response, body) => {
      const { payload } = JSON.parse(body) as { payload: object };
      invocations += 1;
      const failed = failures-- > 0;
      const result = failed ? undefined : await mover.invoke(JSON.stringify(payload));
      response.writeHead(result === undefined || result.functionError ? 500 : 200);
      response.end(result?.payload ?? '{"errorType":"Runtime.ExitError","errorMessage":"out of memory"}');
    });
  }, 120_000);

  afterAll(async () => {
    functions?.stop();
    await mover?.stop();
    dynamoDb?.destroy();
    await emulator?.stop();
  });

  beforeEach(() => {
    [invocations, failures] = [0, 0];
  });

  const sumOf = (output: unknown, field: string): number =>
    (output as Record<string, number>[]).reduce((sum, totals) => sum + totals[field]!, 0);

  /** The deployed state machine waits minutes between its attempts. This test waits one second. */
  const execute = (input: object, stack = reshardingStack({ segments: SEGMENTS }).stack) => {
    const definition = definitionOf(stack);
    const writer = definition.States.Segments?.ResultWriter as { Parameters: Record<string, unknown> } | undefined;
    if (writer !== undefined) writer.Parameters.Prefix = 'strays/of-the-day';
    const impatient = JSON.stringify(definition).replace('"IntervalSeconds":5', '"IntervalSeconds":1');
    return interpret(
      JSON.parse(impatient.replace('"MaxAttempts":5', '"MaxAttempts":2')),
      input,
      `${functions.endpoint}/`,
    );
  };

  test('an audit counts strays and moves no item', async () => {
    const { status, output } = await execute({ mode: 'audit' });
    expect(status).toBe('SUCCEEDED');
    expect(output).toHaveLength(SEGMENTS);
    expect(sumOf(output, 'hidden')).toBe(ITEMS);
    expect(sumOf(output, 'moved')).toBe(0);
  }, 120_000);

  /**
   * The interpreter writes only the manifest of the report. Step Functions also writes files with the results of the
   * segments. Only the interpreter requires a prefix.
   */
  test.each([true, false])(
    'a run writes its report to S3 and returns the location of the report, with version 2 of the result writer: %s',
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

  test.each([{ Mode: 'audit' }, { mode: 'delete' }])(
    'the input %j, with an unknown field or mode, fails every segment and moves no item',
    async (input) => {
      // The interpreter tolerates every failure of a Distributed Map. Step Functions tolerates only the failures that the
      // definition allows.
      const { output } = await execute(input);
      expect(output).toEqual(Array.from({ length: SEGMENTS }, () => null));
      expect((await findStrays(dynamoDb, byStatus)).hidden).toBe(ITEMS);
    },
    300_000,
  );

  test('a run moves every stray in several invocations, also after a failed invocation', async () => {
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
