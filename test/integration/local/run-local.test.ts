import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { buildSync } from 'esbuild';
import { FunctionFailedError, type LocalStack, startLocal } from '../../../bin/local/run-local';
import { synthesizeOrdersApp } from '../../support/stacks/orders-app';

const WRITER = 'Orders/Writer/Function';
/** This function has a timeout of two seconds. */
const READER = 'AReports/Reader/Function';
const ORDER = { orderId: 'order-1', statusShard: 'open#0', createdAt: '2026-01-01' };

let directory: string;
let stack: LocalStack;
const logged: [path: string, line: string][] = [];

beforeAll(async () => {
  const code = mkdtempSync(join(tmpdir(), 'orders-code-'));
  buildSync({
    entryPoints: [join(__dirname, 'writer.ts')],
    outfile: join(code, 'index.js'),
    bundle: true,
    platform: 'node',
    target: 'node20',
  });
  directory = synthesizeOrdersApp({ code });
  stack = await startLocal({ app: directory, onFunctionLog: (path, line) => logged.push([path, line]) });
}, 60_000);

afterAll(() => stack?.stop());

function invoke(action: string, argument?: unknown): Promise<unknown> {
  return stack.invoke(WRITER, { action, argument });
}

describe('a local run', () => {
  test('runs a function that finds the stream and the table by its environment variables', async () => {
    const { clients, functions, streams, tables } = stack;
    const { name } = functions.find(({ path }) => path === WRITER)!;
    const { Payload, FunctionError } = await clients.lambda.invoke({
      FunctionName: name,
      Payload: JSON.stringify({ action: 'write', argument: ORDER }),
    });
    const { shardId } = JSON.parse(Payload!.transformToString());
    expect(FunctionError).toBeUndefined();

    const { ShardIterator } = await clients.kinesis.getShardIterator({
      StreamName: streams.find(({ path }) => path === 'Orders/Events')!.name,
      ShardId: shardId,
      ShardIteratorType: 'TRIM_HORIZON',
    });
    const { Records } = await clients.kinesis.getRecords({ ShardIterator });
    expect(Records?.map(({ Data }) => JSON.parse(Buffer.from(Data!).toString()))).toEqual([ORDER]);

    const { Items } = await clients.dynamodb.query({
      TableName: tables[0]!.name,
      IndexName: 'byStatus',
      KeyConditionExpression: 'statusShard = :shard',
      ExpressionAttributeValues: { ':shard': { S: ORDER.statusShard } },
    });
    expect(Items).toEqual([expect.objectContaining({ orderId: { S: ORDER.orderId } })]);
  });

  test('gives a function only the environment variables that its template defines or that Lambda adds', async () => {
    process.env.PARENT_ONLY = 'secret';
    const definition = stack.functions.find(({ path }) => path === WRITER)!;
    const { environment } = (await invoke('describe')) as { environment: Record<string, string> };
    expect(environment).toMatchObject({
      ...definition.environment,
      AWS_REGION: 'us-east-1',
      AWS_LAMBDA_FUNCTION_NAME: definition.name,
      AWS_LAMBDA_FUNCTION_MEMORY_SIZE: '512',
      AWS_ENDPOINT_URL_DYNAMODB_STREAMS: stack.endpoints.dynamodb,
      AWS_ENDPOINT_URL_KINESIS: stack.endpoints.kinesis,
      AWS_ENDPOINT_URL_DYNAMODB: stack.endpoints.dynamodb,
    });
    expect(
      Object.keys(environment)
        .filter((name) => !/^(AWS_|LAMBDA_|_HANDLER$|PATH$|NODE_PATH$|LANG$|TZ$|_X_AMZN_TRACE_ID$)/.test(name))
        .sort(),
    ).toEqual(Object.keys(definition.environment).sort());
    delete process.env.PARENT_ONLY;
  });

  test('gives a function a context with the remaining time of the invocation', async () => {
    const { arn, name } = stack.functions.find(({ path }) => path === WRITER)!;
    const { context } = (await invoke('describe')) as { context: Record<string, unknown> };
    expect(context).toMatchObject({
      functionName: name,
      functionVersion: '$LATEST',
      invokedFunctionArn: arn,
      memoryLimitInMB: '512',
      awsRequestId: expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
    expect(context.remaining).toBeGreaterThan(2_000);
    expect(context.remaining).toBeLessThanOrEqual(60_000);
  });

  test('reports the error that a function throws', async () => {
    await expect(invoke('fail', 'no such order')).rejects.toThrow(FunctionFailedError);
    await expect(invoke('fail', 'no such order')).rejects.toMatchObject({
      problem: 'Orders/Writer/Function failed: TypeError: no such order',
      errorType: 'TypeError',
      trace: expect.arrayContaining(['TypeError: no such order']),
    });
  });

  test('ends a function at its timeout, and starts the function again', async () => {
    const { lambda } = stack.clients;
    const FunctionName = stack.functions.find(({ path }) => path === READER)!.name;
    const { FunctionError, Payload } = await lambda.invoke({
      FunctionName,
      Payload: JSON.stringify({ action: 'sleep', argument: 60_000 }),
    });
    expect(FunctionError).toBe('Unhandled');
    expect(JSON.parse(Payload!.transformToString()).errorMessage).toMatch(/Task timed out after 2\.00 seconds$/);
    await expect(stack.invoke(READER, { action: 'sleep', argument: 1 })).resolves.toBe('slept');
  });

  test('reports a function that exits, and starts the function again', async () => {
    await expect(invoke('exit', 3)).rejects.toThrow(
      /Runtime.ExitError: RequestId: [-0-9a-f]+ Error: Runtime exited with error: exit status 3$/,
    );
    await expect(invoke('sleep', 1)).resolves.toBe('slept');
  });

  test('returns a response of up to 6,291,556 bytes, as Lambda does', async () => {
    await expect(invoke('respond', 6_291_556)).resolves.toHaveLength(6_291_554);
    await expect(invoke('respond', 6_291_557)).rejects.toThrow(
      'Function.ResponseSizeTooLarge: Response payload size exceeded maximum allowed payload size (6291556 bytes).',
    );
  });

  test('runs invocations of one function in parallel', async () => {
    const meeting = mkdtempSync(join(tmpdir(), 'meeting-'));
    // Each of these eight invocations ends only after all eight have begun.
    const meet = () => invoke('meet', { directory: meeting, invocations: 8 });
    expect(await Promise.all(Array.from({ length: 16 }, meet))).toEqual(Array(16).fill('met'));
  });

  test('responds to an asynchronous invocation with 202, and runs the function', async () => {
    const { lambda } = stack.clients;
    const FunctionName = stack.functions.find(({ path }) => path === WRITER)!.name;
    const { StatusCode } = await lambda.invoke({
      FunctionName,
      InvocationType: 'Event',
      Payload: JSON.stringify({ action: 'print', argument: 'from the event' }),
    });
    expect(StatusCode).toBe(202);
    while (!logged.some(([, line]) => line === 'from the event')) await sleep(10);
    expect(logged).toContainEqual([WRITER, 'from the event']);
  });

  test('rejects an unknown function, and names the functions of the app', async () => {
    await expect(stack.invoke('Orders/Reader', {})).rejects.toThrow(
      'name must be one of the functions Orders/Writer/Function, AReports/Reader/Function, got "Orders/Reader"',
    );
  });
});

test('stop ends all services of a local run', async () => {
  const other = await startLocal({ app: directory });
  await other.invoke(WRITER, { action: 'sleep', argument: 1 });
  await other.stop();
  for (const endpoint of Object.values(other.endpoints)) await expect(fetch(endpoint)).rejects.toThrow('fetch failed');
  await expect(other.invoke(WRITER, {})).rejects.toThrow('the local stack is stopped');
});
