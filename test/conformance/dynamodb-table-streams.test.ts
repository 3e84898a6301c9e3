import type { AttributeValue, DynamoDB, WriteRequest } from '@aws-sdk/client-dynamodb';
import { startDynamoDbEmulator } from '../../bin/local/emulators/dynamodb-emulator';
import { plainDecimal } from '../../lib/core/kernel/decimal';
import { seededRandom } from '../../lib/testing/seeded-random';
import { describeWhere } from '../support/describe-where';
import { randomRuns, randomRunsTimeout } from '../support/random-runs';
import { callStreams, TableStream } from '../support/table-stream';
import { serviceForTests } from './dynamodb-emulators';
import { DYNAMODB_LOCAL, startDynamoDbLocal } from './dynamodb-local';

/** The same random writes to a local run and to DynamoDB Local. Both must write the same records. */

type Item = Record<string, AttributeValue>;

const VIEWS = ['KEYS_ONLY', 'NEW_IMAGE', 'OLD_IMAGE', 'NEW_AND_OLD_IMAGES'] as const;

const VALUES: readonly AttributeValue[] = [
  { S: 'a' },
  { S: '' },
  { S: 'ä€😀' },
  { N: '1' },
  { N: '1.0' },
  { N: '1E3' },
  { B: Uint8Array.of(0, 255) },
  { SS: ['a', 'b'] },
  { SS: ['b', 'a'] },
  { NS: ['1', '2.50'] },
  { NS: ['2.5', '1'] },
  { BS: [Uint8Array.of(1), Uint8Array.of(2)] },
  { BS: [Uint8Array.of(2), Uint8Array.of(1)] },
  { BOOL: true },
  { NULL: true },
  { L: [{ S: 'a' }, { M: { x: { N: '1' } } }] },
  { M: { x: { S: 'a' }, y: { L: [] } } },
  { M: { y: { L: [] }, x: { S: 'a' } } },
];

type Operation = 'putItem' | 'updateItem' | 'deleteItem' | 'batchWriteItem' | 'transactWriteItems';

/** A random write: the operation and its input. */
function randomWrite(random: () => number, tables: readonly string[]): [Operation, object] {
  const below = (count: number) => Math.floor(random() * count);
  const oneOf = <T>(values: readonly T[]): T => values[below(values.length)]!;
  const table = () => oneOf(tables);
  const kind = below(10);
  // DynamoDB Local does not recognise two notations of a number as the same key, so the keys have one notation.
  const key = (): Item => ({ id: { S: oneOf(['p', 'q']) }, part: { N: oneOf(['1', '2', '30']) } });
  const item = (): Item => ({
    ...key(),
    ...(random() < 0.8 && { a: oneOf(VALUES) }),
    ...(random() < 0.3 && { b: oneOf(VALUES) }),
  });
  const update = () => {
    const expression = oneOf([
      'SET a = :value',
      'SET a = if_not_exists(a, :value)',
      'REMOVE a',
      'REMOVE a, b',
      'ADD total :one',
      'ADD names :names',
      'DELETE names :names',
      undefined,
    ]);
    const values: Item = {
      ':value': oneOf(VALUES),
      ':one': { N: oneOf(['0', '1']) },
      ':names': { SS: [oneOf(['x', 'y'])] },
    };
    const used = Object.entries(values).filter(([name]) => expression?.includes(name));
    return {
      ...{ TableName: table(), Key: key(), UpdateExpression: expression },
      ...(used.length > 0 && { ExpressionAttributeValues: Object.fromEntries(used) }),
    };
  };
  const condition = () => oneOf([undefined, undefined, 'attribute_exists(id)', 'attribute_not_exists(id)']);
  if (kind < 3) {
    const input = { TableName: table(), Item: item(), ConditionExpression: condition() };
    return ['putItem', input];
  }
  if (kind < 6) {
    const input = {
      ...update(),
      ConditionExpression: condition(),
      ReturnConsumedCapacity: oneOf(['INDEXES', 'NONE'] as const),
    };
    return ['updateItem', input];
  }
  if (kind < 7) {
    const input = { TableName: table(), Key: key(), ConditionExpression: condition() };
    return ['deleteItem', input];
  }
  if (kind < 8) {
    const request = (): WriteRequest =>
      random() < 0.7 ? { PutRequest: { Item: item() } } : { DeleteRequest: { Key: key() } };
    const requests = Array.from({ length: 1 + below(3) }, () => [table(), request()] as const);
    const RequestItems = Object.fromEntries(
      tables.flatMap((name) => {
        const own = requests.filter(([each]) => each === name).map(([, each]) => each);
        return own.length === 0 ? [] : [[name, own]];
      }),
    );
    return ['batchWriteItem', { RequestItems }];
  }
  const action = () =>
    oneOf([
      () => ({ Put: { TableName: table(), Item: item(), ConditionExpression: condition() } }),
      () => ({
        Update: {
          ...update(),
          UpdateExpression: 'SET a = :value',
          ExpressionAttributeValues: { ':value': oneOf(VALUES) },
        },
      }),
      () => ({ Delete: { TableName: table(), Key: key() } }),
      () => ({ ConditionCheck: { TableName: table(), Key: key(), ConditionExpression: 'attribute_exists(id)' } }),
    ])();
  const TransactItems = Array.from({ length: 1 + below(3) }, action);
  return ['transactWriteItems', { TransactItems }];
}

/**
 * The comparable fields of a record. The two services have different ids, sequence numbers and times. A set has no order,
 * and DynamoDB Local keeps the notation of a number.
 */
function seen({ eventName, eventVersion, eventSource, dynamodb, userIdentity }: StreamRecord): object {
  const { SequenceNumber, ApproximateCreationDateTime, ...fields } = dynamodb;
  expect(SequenceNumber).toMatch(/^\d{21,40}$/);
  expect(Math.abs(ApproximateCreationDateTime - Date.now() / 1_000)).toBeLessThan(300);
  return JSON.parse(JSON.stringify({ eventName, eventVersion, eventSource, userIdentity, ...fields }), canonical);
}

function canonical(name: string, value: unknown): unknown {
  if (name === 'N') return plainDecimal(value as string);
  const numbers = name === 'NS' ? (value as string[]).map(plainDecimal) : value;
  return ['SS', 'NS', 'BS'].includes(name) ? [...(numbers as string[])].sort() : numbers;
}

interface StreamRecord {
  readonly [name: string]: unknown;
  readonly dynamodb: {
    readonly SequenceNumber: string;
    readonly ApproximateCreationDateTime: number;
    readonly Keys: Item;
  };
}

/** The records of each item, in order. */
async function recordsByKey(stream: TableStream): Promise<Record<string, object[]>> {
  const byKey: Record<string, object[]> = {};
  for (let read = 1; read > 0; ) {
    read = 0;
    for await (const batch of stream.batches()) {
      read += batch.length;
      for (const record of batch as StreamRecord[]) {
        const key = JSON.stringify(Object.entries(record.dynamodb.Keys).sort());
        byKey[key] = [...(byKey[key] ?? []), seen(record)];
      }
    }
  }
  return byKey;
}

async function createTable(
  dynamodb: DynamoDB,
  TableName: string,
  StreamViewType?: (typeof VIEWS)[number],
): Promise<void> {
  await dynamodb.createTable({
    ...{ TableName, BillingMode: 'PAY_PER_REQUEST' },
    KeySchema: [
      { AttributeName: 'id', KeyType: 'HASH' },
      { AttributeName: 'part', KeyType: 'RANGE' },
    ],
    AttributeDefinitions: [
      { AttributeName: 'id', AttributeType: 'S' },
      { AttributeName: 'part', AttributeType: 'N' },
    ],
    ...(StreamViewType && { StreamSpecification: { StreamEnabled: true, StreamViewType } }),
  });
}

describeWhere(process.env[DYNAMODB_LOCAL] !== undefined, 'a JDK')('table streams on DynamoDB Local', () => {
  const services = [serviceForTests(startDynamoDbEmulator), serviceForTests(startDynamoDbLocal)];

  test(
    'random writes have the same records as in a local run, with each view type',
    async () => {
      const tables = VIEWS.map((view) => `Table-${view}`);
      for (const { dynamodb } of services) {
        for (const view of VIEWS) await createTable(dynamodb, `Table-${view}`, view);
        await createTable(dynamodb, 'Plain');
      }
      const random = seededRandom(3);
      const counts = { done: 0, failed: 0 };
      for (let n = 0; n < randomRuns(1_500); n++) {
        const [operation, input] = randomWrite(random, [...tables, 'Plain']);
        const [ours, theirs] = await Promise.all(
          services.map(async ({ dynamodb }) => {
            const call = dynamodb[operation] as (input: object) => Promise<unknown>;
            return call.call(dynamodb, input).then(
              () => 'done',
              () => 'failed',
            );
          }),
        );
        expect([operation, input, ours]).toEqual([operation, input, theirs]);
        counts[ours === 'done' ? 'done' : 'failed'] += 1;
      }
      expect(counts.failed).toBeGreaterThan(100);
      for (const table of tables) {
        const [ours, theirs] = await Promise.all(
          services.map(async ({ endpoint }) => recordsByKey(await TableStream.of(endpoint, table))),
        );
        expect(Object.values(ours!).flat().length).toBeGreaterThan(100);
        expect(ours).toEqual(theirs);
      }
    },
    randomRunsTimeout(120_000),
  );

  test('the control calls page, position an iterator and fail as in a local run', async () => {
    const outcomes = await Promise.all(
      services.map(async ({ endpoint, dynamodb }) => {
        for (const name of ['Control-1', 'Control-2', 'Control-3']) await createTable(dynamodb, name, 'NEW_IMAGE');
        for (const part of ['1', '2', '3']) {
          await dynamodb.putItem({ TableName: 'Control-1', Item: { id: { S: 'p' }, part: { N: part } } });
        }
        return controlOutcomes((operation, input) => callStreams(endpoint, operation, input), dynamodb);
      }),
    );
    expect(outcomes[0]).toEqual(outcomes[1]);
    expect(outcomes[0]!.length).toBeGreaterThan(25);
  }, 60_000);
});

// biome-ignore lint/suspicious/noExplicitAny: the responses of an emulator
type CallStreams = (operation: string, input: object) => Promise<any>;

/** Calls each operation with valid and invalid parameters. Returns the comparable parts of the responses. */
async function controlOutcomes(call: CallStreams, dynamodb: DynamoDB): Promise<unknown[]> {
  const outcomes: unknown[] = [];
  const tried = async (operation: string, input: object): Promise<void> => {
    const outcome = await call(operation, input).then(
      ({ Streams, StreamDescription, Records }) => [
        Streams?.length,
        StreamDescription?.StreamStatus,
        StreamDescription?.Shards.length,
        Records?.length,
      ],
      (error: Error) => /#(\w+)/.exec(error.message)?.[1],
    );
    outcomes.push([operation, outcome]);
  };
  const { Streams } = await call('ListStreams', { TableName: 'Control-1' });
  const { StreamArn } = Streams[0];
  const unknown = StreamArn.replace(/stream\/.*/, 'stream/2000-01-01T00:00:00.000');
  for (const Limit of [0, 1, 100, 101]) {
    await tried('ListStreams', { TableName: 'Control-1', Limit });
    await tried('DescribeStream', { StreamArn, Limit });
  }
  await tried('ListStreams', { TableName: 'None' });
  await tried('ListStreams', { TableName: 'Control-1', ExclusiveStartStreamArn: StreamArn });
  const names: string[] = [];
  for (let ExclusiveStartStreamArn: string | undefined; ; ) {
    const page = await call('ListStreams', { Limit: 1, ExclusiveStartStreamArn });
    names.push(...page.Streams.map(({ TableName }: { TableName: string }) => TableName));
    ExclusiveStartStreamArn = page.LastEvaluatedStreamArn;
    if (ExclusiveStartStreamArn === undefined) break;
  }
  outcomes.push(names.filter((name) => name.startsWith('Control')).sort());
  const { ShardId } = (await call('DescribeStream', { StreamArn })).StreamDescription.Shards[0];
  await tried('DescribeStream', { StreamArn, ExclusiveStartShardId: ShardId });
  for (const input of [{}, { StreamArn: unknown }]) await tried('DescribeStream', input);
  const from = async (position: object): Promise<void> => {
    try {
      const { ShardIterator } = await call('GetShardIterator', { StreamArn, ShardId, ...position });
      await tried('GetRecords', { ShardIterator });
    } catch (error) {
      outcomes.push([Object.keys(position), /#(\w+)/.exec((error as Error).message)?.[1]]);
    }
  };
  const { ShardIterator } = await call('GetShardIterator', { StreamArn, ShardId, ShardIteratorType: 'TRIM_HORIZON' });
  const { Records } = await call('GetRecords', { ShardIterator, Limit: 2 });
  const { SequenceNumber } = Records[1].dynamodb;
  for (const ShardIteratorType of ['TRIM_HORIZON', 'LATEST', 'AT_SEQUENCE_NUMBER', 'AFTER_SEQUENCE_NUMBER']) {
    await from({ ShardIteratorType });
    await from({ ShardIteratorType, SequenceNumber });
  }
  await from({ ShardIteratorType: 'AT_SEQUENCE_NUMBER', SequenceNumber: 'x' });
  await from({ ShardIteratorType: 'LATEST', StreamArn: unknown });
  await from({ ShardIteratorType: 'LATEST', ShardId: 'shardId-00000000000000000000-aaaaaaaa' });
  for (const Limit of [0, 1, 1_000, 1_001]) await tried('GetRecords', { ShardIterator, Limit });
  for (const input of [{}, { ShardIterator: 'x' }]) await tried('GetRecords', input);
  const StreamSpecification = { StreamEnabled: false };
  await dynamodb.updateTable({ TableName: 'Control-1', StreamSpecification });
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  await tried('DescribeStream', { StreamArn });
  await from({ ShardIteratorType: 'TRIM_HORIZON' });
  await dynamodb.updateTable({
    ...{ TableName: 'Control-1', StreamSpecification: { StreamEnabled: true, StreamViewType: 'KEYS_ONLY' } },
  });
  await tried('ListStreams', { TableName: 'Control-1' });
  return outcomes;
}
