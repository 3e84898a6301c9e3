import { parked } from '../../bin/parked';
import { DynamoDbParkingStore, OrderedConsumer } from '../../lib/core/consumer';
import { printed } from '../support/command';
import { dynaliteForTests } from '../support/dynalite';
import { SOURCE, shardOf, textOf } from '../support/fakes/stream-events';
import { createParkingTable, PARKING_TABLE } from '../support/plays/parking-stores';

describe('even-shards parked', () => {
  const { dynamoDb: dynamodb } = dynaliteForTests();
  let consumers = 0;
  let name: string;

  beforeAll(() => createParkingTable(dynamodb));
  beforeEach(() => {
    name = `consumer ${++consumers}`;
  });
  afterEach(() => {
    process.exitCode = undefined;
  });

  const store = () => new DynamoDbParkingStore(dynamodb, { tableName: PARKING_TABLE, consumer: name });

  /** A consumer that fails for the record "a1". It adds the texts of all other records to the list. */
  function consumerOf(effects: string[], maxTries = 100): OrderedConsumer {
    return new OrderedConsumer(
      (record) => {
        if (textOf(record) === 'a1') throw new Error('poison \u001b[2J');
        effects.push(textOf(record));
      },
      { parking: store(), attempts: 2, maxTries },
    );
  }

  const lines = (...args: string[]) =>
    printed((all) => parked(all, () => dynamodb), '--table', PARKING_TABLE, '--consumer', name, ...args);

  test('prints that no key is parked', async () => {
    expect(await lines()).toBe('no key is parked');
  });

  test('lists parked keys without their payload, and escapes control characters', async () => {
    await consumerOf([]).process(shardOf(['a1', 'b1', 'a2']), { source: SOURCE });
    const text = await lines();
    expect(text).toMatch(/^1 key is parked, 0 dead\n\na\n {2}2 records wait for \d+ s, 2 tries\n {2}Error: poison/);
    expect(text).toContain('\\u001b[2J');
    expect(text).not.toContain('a1');
    expect(process.exitCode).toBeUndefined();
  });

  test('--payload shows the record that blocks a key', async () => {
    const consumer = consumerOf([]);
    await consumer.process(shardOf(['a1']), { source: SOURCE });
    await consumer.process(shardOf(['a2'], { from: 2 }), { source: SOURCE });
    expect(JSON.parse(await lines('--json', '--payload'))).toMatchObject({
      partitionKey: 'a',
      records: 2,
      payload: 'a1',
    });
  });

  test('ends with exit code 1 if a key is dead', async () => {
    await consumerOf([], 2).process(shardOf(['a1']), { source: SOURCE });
    expect(await lines()).toContain('a  DEAD');
    expect(process.exitCode).toBe(1);
  });

  test('skip removes the blocking record, and the key continues with the next record', async () => {
    const effects: string[] = [];
    const consumer = consumerOf(effects, 2);
    await consumer.process(shardOf(['a1', 'a2']), { source: SOURCE });
    expect(await lines('skip', 'a')).toBe('"a" continues after the record that blocked it');
    await consumer.retryParked();
    expect(effects).toEqual(['a2']);
  });

  test('drop removes a key with its records', async () => {
    await consumerOf([]).process(shardOf(['a1', 'a2']), { source: SOURCE });
    await lines('drop', 'a');
    expect(await lines()).toBe('no key is parked');
  });

  test('rejects a key that is not parked, and an unknown command', async () => {
    await expect(lines('resume', 'x')).rejects.toMatchObject({ code: 'KEY_NOT_PARKED' });
    await expect(lines('delete', 'x')).rejects.toMatchObject({ code: 'USAGE' });
    await expect(lines('skip')).rejects.toMatchObject({ code: 'USAGE' });
    await expect(parked(['--table', PARKING_TABLE], () => dynamodb)).rejects.toMatchObject({ code: 'USAGE' });
  });
});
