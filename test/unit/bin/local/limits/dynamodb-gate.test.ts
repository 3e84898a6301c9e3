import type { Call, ServiceAnswer, ServiceCall } from '../../../../../bin/local/emulators/gated-service';
import { DynamoDbGate } from '../../../../../bin/local/limits/dynamodb-gate';
import { TableShapes } from '../../../../../bin/local/limits/table-shapes';
import { Traffic } from '../../../../../bin/local/limits/traffic';
import { DynamoDbLimits } from '../../../../../lib/testing';

/** Tests requests of many items, and requests that dynalite does not support, with a simulated DynamoDB. */

const ARN = 'arn:aws:dynamodb:us-east-1:000000000000:table/Jobs';
const HASH = (AttributeName: string) => [{ AttributeName, KeyType: 'HASH' }];
const TABLE = {
  TableArn: ARN,
  KeySchema: HASH('id'),
  GlobalSecondaryIndexes: [{ IndexName: 'byStatus', KeySchema: HASH('status'), Projection: { ProjectionType: 'ALL' } }],
};

let nowMs: number;
let stored: Record<string, { S: string }>[];
let forwarded: ServiceCall[];
let gate: DynamoDbGate;
let traffic: Traffic;

beforeEach(() => {
  nowMs = 0;
  stored = [];
  forwarded = [];
  traffic = new Traffic();
  const call: Call = async (operation, input) => {
    if (operation === 'DescribeTable') return { status: 200, output: { Table: TABLE } };
    if (operation === 'Scan')
      return { status: 200, output: { Items: stored.slice(0, (input as { Limit?: number }).Limit) } };
    return { status: 200, output: {} };
  };
  gate = new DynamoDbGate({
    call,
    tables: new TableShapes(call),
    // At this scale, a partition key has 10 write units and 30 read units per second.
    limits: new DynamoDbLimits({ now: () => nowMs, scale: 0.01 }),
    traffic,
  });
});

/**
 * Sends a request through the gate, and returns the response. The request consumes `units` if the gate lets the request
 * pass.
 */
async function send(operation: string, input: object, units = 0): Promise<ServiceAnswer> {
  const call = { operation, input };
  const response = await gate.pass(call, async (changed) => {
    forwarded.push({ operation, input: changed });
    return { status: 200, output: { ConsumedCapacity: { CapacityUnits: units } } };
  });
  return response as ServiceAnswer;
}

const item = (id: string, status = id) => ({ id: { S: id }, status: { S: status } });
const put = (id: string) => ({ Put: { TableName: 'Jobs', Item: item(id) } });
const get = (id: string) => ({ Get: { TableName: 'Jobs', Key: { id: { S: id } } } });
const THROTTLED = { __type: 'ProvisionedThroughputExceededException' };
const isRejected = async (response: Promise<ServiceAnswer>) => (await response).output.__type !== undefined;

describe('a Scan', () => {
  test('consumes the read units of each partition key on its page, and is throttled until all these keys have units', async () => {
    stored = [item('1', 'open'), item('2', 'open'), item('3', 'done')];
    const scan = { TableName: 'Jobs', IndexName: 'byStatus', FilterExpression: 'attribute_exists(nothing)' };
    expect(await isRejected(send('Scan', scan, 60))).toBe(false);
    const { output } = await send('Scan', scan, 60);
    expect(output).toMatchObject({
      ...THROTTLED,
      ThrottlingReasons: [{ reason: 'IndexReadKeyRangeThroughputExceeded', resource: `${ARN}/index/byStatus` }],
    });
    // The first scan consumed 40 units of the key `open`, which gets 30 units per second. After 330 ms, `open` has no units
    // yet.
    nowMs = 330;
    expect(await isRejected(send('Scan', scan, 1))).toBe(true);
    nowMs = 340;
    expect(await isRejected(send('Scan', scan, 1))).toBe(false);
  });

  test('is not throttled if it reads other partition keys', async () => {
    stored = [item('1'), item('2')];
    await send('Scan', { TableName: 'Jobs', Limit: 1 }, 60);
    expect(await isRejected(send('Scan', { TableName: 'Jobs', Limit: 1 }, 1))).toBe(true);
    stored.reverse();
    expect(await isRejected(send('Scan', { TableName: 'Jobs', Limit: 1 }, 1))).toBe(false);
  });

  test('is throttled if other reads have consumed the units of a partition key on its page', async () => {
    stored = [item('1')];
    await send('GetItem', { TableName: 'Jobs', Key: { id: { S: '1' } } }, 60);
    expect(await isRejected(send('Scan', { TableName: 'Jobs' }, 1))).toBe(true);
  });

  test('consumes no read units of an empty table', async () => {
    expect(await isRejected(send('Scan', { TableName: 'Jobs' }, 0))).toBe(false);
  });
});

describe('a transaction', () => {
  test('consumes the units of each item that it reads, and is cancelled with one reason for each item', async () => {
    const both = { TransactItems: [get('1'), get('2')] };
    await send('TransactGetItems', { TransactItems: [get('1')] }, 60);
    const { status, output } = await send('TransactGetItems', both, 4);
    expect(status).toBe(400);
    expect(output).toMatchObject({
      __type: 'TransactionCanceledException',
      message: expect.stringContaining('[ThrottlingError, None]'),
      CancellationReasons: [{ Code: 'ThrottlingError' }, { Code: 'None' }],
    });
    nowMs = 2_000;
    expect(await isRejected(send('TransactGetItems', both, 4))).toBe(false);
    expect(forwarded.at(-1)!.input).toMatchObject(both);
  });

  test('consumes two units for each item that it writes, either for all items or for no item', async () => {
    const write = (...ids: string[]) => send('TransactWriteItems', { TransactItems: ids.map(put) });
    for (let n = 0; n < 5; n++) expect(await isRejected(write('1'))).toBe(false);
    expect(await write('1', '2')).toMatchObject({
      status: 400,
      output: { __type: 'TransactionCanceledException', CancellationReasons: expect.any(Array) },
    });
    for (let n = 0; n < 5; n++) expect(await isRejected(write('2'))).toBe(false);
    expect(await isRejected(write('2'))).toBe(true);
    expect(forwarded).toHaveLength(10);
  });
});

describe('a batch', () => {
  test('writes the items whose partition keys have units, and returns the other items as unprocessed', async () => {
    for (let n = 0; n < 10; n++) await send('PutItem', { TableName: 'Jobs', Item: item('1') });
    const requests = ['1', '2'].map((id) => ({ PutRequest: { Item: item(id) } }));
    const { status, output } = await send('BatchWriteItem', { RequestItems: { Jobs: requests } });
    expect({ status, left: output.UnprocessedItems }).toEqual({ status: 200, left: { Jobs: [requests[0]] } });
    expect(forwarded.at(-1)!.input).toEqual({ RequestItems: { Jobs: [requests[1]] } });
  });

  test('is throttled if it can write no item', async () => {
    for (let n = 0; n < 10; n++) await send('PutItem', { TableName: 'Jobs', Item: item('1') });
    const requests = [{ PutRequest: { Item: item('1') } }];
    expect((await send('BatchWriteItem', { RequestItems: { Jobs: requests } })).output).toMatchObject(THROTTLED);
  });

  test('reads the items whose partition keys have units, and returns the other items as unprocessed', async () => {
    await send('GetItem', { TableName: 'Jobs', Key: { id: { S: '1' } } }, 60);
    const [first, second] = [{ id: { S: '1' } }, { id: { S: '2' } }];
    const RequestItems = { Jobs: { Keys: [first, second], ConsistentRead: true } };
    const { output } = await send('BatchGetItem', { RequestItems }, 1);
    expect(output.UnprocessedKeys).toEqual({ Jobs: { Keys: [first], ConsistentRead: true } });
    expect(forwarded.at(-1)!.input).toMatchObject({ RequestItems: { Jobs: { Keys: [second] } } });
  });
});

test('a batch returns the items that the emulator did not read, and the items that a limit throttles', async () => {
  await send('GetItem', { TableName: 'Jobs', Key: { id: { S: '1' } } }, 60);
  const [throttled, read, left] = ['1', '2', '3'].map((id) => ({ id: { S: id } }));
  const call = { operation: 'BatchGetItem', input: { RequestItems: { Jobs: { Keys: [throttled, read, left] } } } };
  const UnprocessedKeys = { Jobs: { Keys: [left] } };
  const { output } = await gate.pass(call, async () => ({ status: 200, output: { UnprocessedKeys } }));
  expect(output.UnprocessedKeys).toEqual({ Jobs: { Keys: [left, throttled] } });
});

describe('a write', () => {
  const write = { TableName: 'Jobs', Item: item('1', 'open') };
  const answering = (status: number) =>
    gate.pass({ operation: 'PutItem', input: write }, async () => ({ status, output: {} }));

  test('is counted for its table, and for each index that the write changes', async () => {
    await answering(200);
    expect(traffic.total(`writes ${ARN}`)).toMatchObject({ count: 1, throttled: 0 });
    expect(traffic.total(`writes ${ARN}/index/byStatus`)).toMatchObject({ count: 1, throttled: 0 });
  });

  test('is not counted if the emulator rejects it, for example because of a condition', async () => {
    await answering(400);
    expect(traffic.total(`writes ${ARN}`)).toEqual({ count: 0, amount: 0, throttled: 0 });
    expect(traffic.total(`writes ${ARN}/index/byStatus`)).toEqual({ count: 0, amount: 0, throttled: 0 });
  });

  test('is counted as throttled and not as written if it exceeds a limit', async () => {
    for (let n = 0; n < 10; n++) await answering(200);
    await answering(200);
    expect(traffic.total(`writes ${ARN}`)).toMatchObject({ count: 10, throttled: 1 });
  });
});
