import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Lambda } from '@aws-sdk/client-lambda';
import { DynamoDBDocument } from '@aws-sdk/lib-dynamodb';
import { App, Stack } from 'aws-cdk-lib';
import { Stream } from 'aws-cdk-lib/aws-kinesis';
import {
  CfnAlias,
  CfnEventSourceMapping,
  CfnVersion,
  Code,
  Function as LambdaFunction,
  Runtime,
} from 'aws-cdk-lib/aws-lambda';
import { LOCAL_CREDENTIALS } from '../../../bin/local/functions/lambda-environment';
import { type LocalStack, startLocal } from '../../../bin/local/run-local';
import { parked } from '../../../bin/parked';
import { OrdersConsumer } from '../../../examples/ordered-consumer/orders-consumer';
import { DynamoDbParkingStore, type ParkedKeyReport } from '../../../lib/core/consumer';
import { CONSUMER_NAME, PARKING_TABLE_NAME } from '../../../lib/core/contract/function-environment';
import { PARKED_CONSUMER, synthesizeConsumersApp, TABLE_CONSUMER } from '../../support/stacks/consumers-app';

const PRODUCER = 'App/Producer/Function';
const LIST = 'App/Handler';
const ORDERS = 'App/Orders/Function';

async function parkedIn(store: DynamoDbParkingStore): Promise<ParkedKeyReport[]> {
  const keys: ParkedKeyReport[] = [];
  for await (const key of store.parked()) keys.push(key);
  return keys;
}

/** Runs two consumers on the stream of one app: the consumer example, and a consumer for these tests. */
describe('a local run of functions that read a stream', () => {
  const progress: string[] = [];
  let stack: LocalStack;
  let documents: DynamoDBDocument;

  beforeAll(async () => {
    const app = synthesizeConsumersApp((scope, stream) => {
      new OrdersConsumer(scope, 'Orders', { stream });
    });
    stack = await startLocal({ app, onProgress: (line) => progress.push(line) });
    documents = DynamoDBDocument.from(stack.ungatedClients.dynamodb);
  }, 120_000);
  afterAll(() => stack?.stop());

  const put = (...records: { partitionKey: string; data: string }[]) => stack.invoke(PRODUCER, { records });
  const nameOf = (path: string) => stack.tables.find((table) => table.path === path)!.name;
  const functionAt = (path: string) => stack.functions.find((each) => each.path === path)!;
  const stateOf = (path: string) => stack.eventSources.states.find(({ functionPath }) => functionPath === path)!;

  async function textsOf(id: string): Promise<string[]> {
    const { Item } = await documents.get({ TableName: nameOf('App/Lists'), Key: { id }, ConsistentRead: true });
    return Item?.texts ?? [];
  }

  async function until(holds: () => Promise<boolean> | boolean): Promise<void> {
    while (!(await holds())) await sleep(20);
  }

  test('prints the event sources and the schedule for parked keys', () => {
    expect(progress).toEqual(
      expect.arrayContaining([
        'function App/Handler reads stream App/Events',
        'function App/Orders/Function reads stream App/Events',
        'function App/Handler runs every 1 minute',
        'function App/Watcher reads the stream of table App/Watched',
      ]),
    );
    expect(progress.filter((line) => /Rule|Permission|StreamConsumer/.test(line))).toEqual([
      expect.stringMatching(/^not needed here: .*AWS::Lambda::Permission \(\d\)/),
    ]);
  });

  test('delivers the records of each key in order, also after shards are split', async () => {
    const ids = ['ada', 'bob', 'cy'];
    const round = (n: number) => put(...ids.map((id) => ({ partitionKey: id, data: JSON.stringify(`${id} ${n}`) })));
    for (let n = 0; n < 5; n++) await round(n);
    const { name: StreamName } = stack.streams[0]!;
    const { kinesis } = stack.ungatedClients;
    for (const { ShardId, HashKeyRange } of (await kinesis.listShards({ StreamName })).Shards!) {
      const [low, high] = [BigInt(HashKeyRange!.StartingHashKey!), BigInt(HashKeyRange!.EndingHashKey!)];
      await kinesis.splitShard({ StreamName, ShardToSplit: ShardId!, NewStartingHashKey: String((low + high) / 2n) });
      while ((await kinesis.describeStream({ StreamName })).StreamDescription!.StreamStatus !== 'ACTIVE')
        await sleep(20);
    }
    for (let n = 5; n < 10; n++) await round(n);
    const texts = (id: string) => Array.from({ length: 10 }, (_, n) => JSON.stringify(`${id} ${n}`));
    await until(async () => (await Promise.all(ids.map(textsOf))).every(({ length }) => length >= 10));
    for (const id of ids) expect(await textsOf(id)).toEqual(texts(id));
    expect(stateOf(LIST)).toMatchObject({ streamPath: 'App/Events', failures: 0, waiting: 0 });
  }, 60_000);

  test('parks the key of a poison record in the table of the app, and delivers other keys', async () => {
    await put({ partitionKey: 'dan', data: 'poison' }, { partitionKey: 'dan', data: '1' });
    await put({ partitionKey: 'eve', data: '1' });
    await until(async () => (await textsOf('eve')).length === 1);
    const tableName = nameOf('App/Consumer/ParkingTable');
    const store = new DynamoDbParkingStore(stack.clients.dynamodb, { tableName, consumer: PARKED_CONSUMER });
    const keysOf = async () => (await parkedIn(store)).map(({ partitionKey }) => partitionKey);
    await until(async () => (await keysOf()).length > 0);
    expect(await textsOf('dan')).toEqual([]);

    const log = jest.spyOn(console, 'log').mockImplementation(() => {});
    const where = ['--table', tableName, '--consumer', PARKED_CONSUMER, '--endpoint', stack.endpoints.dynamodb];
    await parked(where);
    await parked([...where, 'skip', 'dan']);
    const printed = log.mock.calls.map(([line]) => line).join('\n');
    log.mockRestore();
    expect(printed).toMatch(/^1 key is parked, 0 dead\n\ndan\n {2}\d records? waits? .*\n {2}Error: poison cannot/);

    await stack.eventSources.invokeScheduled(functionAt(LIST));
    expect([await textsOf('dan'), await keysOf()]).toEqual([['1'], []]);
  }, 60_000);

  test('a consumer of the stream of a table handles the changes of an item in order, and parks and replays only the item with a poison change', async () => {
    const TableName = nameOf('App/Watched');
    const save = (id: string, text: string) => documents.put({ TableName, Item: { id, text } });
    for (const text of ['1', '1', '2', 'poison', '3']) await save('fay', text);
    await save('ivy', '1');
    const key = (id: string) => JSON.stringify([['id', { S: id }]]);
    const store = new DynamoDbParkingStore(stack.ungatedClients.dynamodb, {
      ...{ tableName: nameOf('App/TableConsumer/ParkingTable'), consumer: TABLE_CONSUMER },
    });
    await until(async () => (await textsOf(key('ivy'))).length === 1 && (await parkedIn(store)).length === 1);
    expect(await textsOf(key('fay'))).toEqual(['1', '2']);
    await store.skip(key('fay'));
    await stack.eventSources.invokeScheduled(functionAt('App/Watcher'));
    expect([await textsOf(key('fay')), await parkedIn(store)]).toEqual([['1', '2', '3'], []]);
  }, 60_000);

  test('the consumer example applies each order of a customer once and in order', async () => {
    for (const orderId of ['1', '2']) await put({ partitionKey: 'gil', data: JSON.stringify({ orderId }) });
    const TableName = nameOf('App/Orders/Orders');
    const ordersOfGil = async () => (await documents.get({ TableName, Key: { customer: 'gil' } })).Item?.orders ?? [];
    await until(async () => (await ordersOfGil()).length === 2);
    expect(await ordersOfGil()).toEqual(['1', '2']);
    const { [PARKING_TABLE_NAME]: tableName, [CONSUMER_NAME]: consumer } = functionAt(ORDERS).environment;
    expect(tableName).toBe(nameOf('App/Orders/Consumer/ParkingTable'));
    const store = new DynamoDbParkingStore(stack.clients.dynamodb, { tableName: tableName!, consumer: consumer! });
    const parkedKeys = (await parkedIn(store)).map(({ partitionKey }) => partitionKey);
    expect(parkedKeys).not.toContain('gil');
  }, 60_000);
});

test('a mapping and a direct call of an alias of version 2 invoke this version, and an unknown alias is rejected', async () => {
  const app = new App();
  const scope = new Stack(app, 'App');
  const source = mkdtempSync(join(tmpdir(), 'reader-'));
  const print =
    "console.log([event.Records?.[0].eventSource, context.functionVersion, context.invokedFunctionArn].join(' '))";
  writeFileSync(
    join(source, 'index.js'),
    `exports.handler = async (event, context) => { ${print}; return context.functionVersion; };`,
  );
  const code = Code.fromAsset(source);
  const { functionName } = new LambdaFunction(scope, 'Reader', {
    ...{ functionName: 'reader', runtime: Runtime.NODEJS_22_X, handler: 'index.handler', code },
  });
  new CfnVersion(scope, 'First', { functionName });
  const { attrVersion: functionVersion } = new CfnVersion(scope, 'Second', { functionName });
  const { ref: alias } = new CfnAlias(scope, 'Live', { functionName, functionVersion, name: 'live' });
  const { streamArn: eventSourceArn } = new Stream(scope, 'Events', { streamName: 'events' });
  for (const [id, invoked] of Object.entries({ OfAlias: alias, OfOther: `${functionName}:other` })) {
    new CfnEventSourceMapping(scope, id, { functionName: invoked, eventSourceArn, startingPosition: 'TRIM_HORIZON' });
  }
  const lines: string[] = [];
  const stack = await startLocal({
    app: app.synth().directory,
    onProgress: (line) => lines.push(line),
    onFunctionLog: (_, line) => lines.push(line),
  });
  const lambda = new Lambda({ endpoint: stack.endpoints.lambda, region: 'us-east-1', credentials: LOCAL_CREDENTIALS });
  const arn = 'arn:aws:lambda:us-east-1:000000000000:function:reader';
  try {
    for (const input of [{ FunctionName: `${arn}:live` }, { FunctionName: 'reader', Qualifier: 'live' }]) {
      const { Payload, ExecutedVersion } = await lambda.invoke(input);
      expect([Payload?.transformToString(), ExecutedVersion]).toEqual(['"2"', '2']);
    }
    for (const Qualifier of ['other', '3'])
      await expect(lambda.invoke({ FunctionName: 'reader', Qualifier })).rejects.toThrow(
        `Function not found: ${arn}:${Qualifier}`,
      );
    await stack.clients.kinesis.putRecord({ StreamName: 'events', PartitionKey: 'a', Data: Buffer.from('a') });
    while (!lines.some((line) => line.includes(`aws:kinesis 2 ${arn}:live`))) await sleep(20);
    expect(lines).toContain(
      'left out: App/OfOther (AWS::Lambda::EventSourceMapping), the function reader has no alias or version other here',
    );
  } finally {
    lambda.destroy();
    await stack.stop();
  }
}, 60_000);
