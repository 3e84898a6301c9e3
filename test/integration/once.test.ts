import { randomBytes } from 'node:crypto';
import type { Client } from 'pg';
import {
  MemoryParkingStore,
  ONCE_POSTGRES_TABLE,
  type Once,
  OrderedConsumer,
  type ShardRecord,
} from '../../lib/core/consumer';
import { SOURCE, shardOf, textOf } from '../support/fakes/stream-events';
import { describeOnPostgres } from '../support/postgres/describe-on-postgres';
import { PostgresServer } from '../support/postgres/postgres-server';

describeOnPostgres('once.postgres', () => {
  let server: PostgresServer;
  let url: string;
  let client: Client;

  beforeAll(async () => {
    server = await PostgresServer.start();
    url = await server.createDatabase('once');
    client = await server.connect(url);
    await client.query(ONCE_POSTGRES_TABLE);
    await client.query(ONCE_POSTGRES_TABLE);
    await client.query('CREATE TABLE effect (id serial, text text)');
  }, 60_000);
  afterAll(async () => {
    await client?.end();
    await server?.stop();
  });
  beforeEach(() => client.query('TRUNCATE effect, even_shards_done'));

  /** Handles records with a new consumer, like another process. */
  async function consume(
    records: readonly ShardRecord[],
    { by = client, failsAfter = '', source = SOURCE } = {},
  ): Promise<void> {
    const consumer = new OrderedConsumer(
      async (record, { once, attempt }) => {
        await by.query('BEGIN');
        try {
          await once.postgres(by);
          await by.query('INSERT INTO effect (text) VALUES ($1)', [textOf(record)]);
          await by.query('COMMIT');
        } catch (error) {
          await by.query('ROLLBACK');
          throw error;
        }
        if (textOf(record) === failsAfter && attempt === 1) throw new Error('after its effect');
      },
      { parking: new MemoryParkingStore(), concurrency: 1 },
    );
    expect(await consumer.process(records, { source })).toEqual({ problems: [] });
  }

  const effects = async () =>
    (await client.query<{ text: string }>('SELECT text FROM effect ORDER BY id')).rows.map(({ text }) => text);

  test('applies a record once if another process receives it again', async () => {
    await consume(shardOf(['a1', 'a2']));
    await consume(shardOf(['a1', 'a2', 'a3']));
    expect(await effects()).toEqual(['a1', 'a2', 'a3']);
  });

  test('applies a record once if its handler fails after the transaction', async () => {
    await consume(shardOf(['a1', 'a2']), { failsAfter: 'a1' });
    expect(await effects()).toEqual(['a1', 'a2']);
  });

  test('compares sequence numbers as numbers, not as texts', async () => {
    await consume(shardOf(['a1', 'a2'], { from: 9 }));
    await consume(shardOf(['a3'], { from: 100 }));
    await consume(shardOf(['a4'], { from: 99 }));
    expect(await effects()).toEqual(['a1', 'a2', 'a3']);
  });

  test('applies each record once if two processes receive it at the same time', async () => {
    const other = await server.connect(url);
    const texts = Array.from({ length: 30 }, (_, index) => `a${index}`);
    await Promise.all([consume(shardOf(texts)), consume(shardOf(texts), { by: other })]);
    await other.end();
    expect(await effects()).toEqual(texts);
  });

  test('distinguishes a key with a NUL from other keys', async () => {
    const records = (partitionKey: string, text: string) =>
      shardOf([text], { shardId: 'shardId-000000000000' }).map((record) => ({ ...record, partitionKey }));
    for (const partitionKey of ['a\0', 'a\\0', 'a', 'a\\'])
      await consume(records(partitionKey, `of ${partitionKey.length}`));
    await consume(records('a\0', 'again'));
    expect(await effects()).toEqual(['of 2', 'of 3', 'of 1', 'of 2']);
  });

  test('remembers the last applied number separately for each key and shard', async () => {
    await consume(shardOf(['a1', 'b1'], { from: 5 }));
    await consume(shardOf(['a2'], { from: 1, shardId: 'shardId-000000000001' }));
    expect(await effects()).toEqual(['a1', 'b1', 'a2']);
  });

  test('remembers the last applied number separately for each source', async () => {
    await consume(shardOf(['a1'], { from: 5 }));
    await consume(shardOf(['a2'], { from: 1 }), { source: `${SOURCE}-2` });
    await consume(shardOf(['a2'], { from: 1 }), { source: `${SOURCE}-2` });
    expect(await effects()).toEqual(['a1', 'a2']);
  });

  test('accepts a key that is longer than the longest row of a Postgres index', async () => {
    const keys = [
      '\u{1f600}'.repeat(256),
      '\\'.repeat(256),
      randomBytes(2_000).toString('base64'),
      randomBytes(2_000).toString('base64'),
    ];
    for (let turn = 0; turn < 2; turn++) {
      for (const [index, partitionKey] of keys.entries()) {
        await consume(shardOf([`of ${index}`]).map((record) => ({ ...record, partitionKey })));
      }
    }
    expect(await effects()).toEqual(['of 0', 'of 1', 'of 2', 'of 3']);
  });

  test('parks the key with the reason, if a handler uses two transactions for a record', async () => {
    const parking = new MemoryParkingStore();
    const apply = async (once: Once, text: string): Promise<void> => {
      await client.query('BEGIN');
      try {
        await once.postgres(client);
        await client.query('INSERT INTO effect (text) VALUES ($1)', [text]);
        await client.query('COMMIT');
      } catch (error) {
        await client.query('ROLLBACK');
        throw error;
      }
    };
    const consumer = new OrderedConsumer(
      async (_, { once }) => {
        await apply(once, 'first');
        await apply(once, 'second');
      },
      { parking },
    );
    await consumer.process(shardOf(['a1']), { source: SOURCE });
    expect(await effects()).toEqual(['first']);
    expect((await parking.find(['a'])).get('a')).toMatchObject({
      dead: true,
      lastError: expect.stringContaining('put all effects of a record into one transaction'),
    });
  });

  test.each([
    ['ROLLBACK', { dead: [], effects: ['a1'] }],
    ['COMMIT', { dead: ['a'], effects: ['first', 'a2'] }],
  ])(
    'marks the key as dead only if the first transaction was committed: %s, and another process handles the record',
    async (end, result) => {
      const other = await server.connect(url);
      const dead: string[] = [];
      const consumer = new OrderedConsumer(
        async (_, { once }) => {
          await client.query('BEGIN');
          await once.postgres(client);
          await client.query("INSERT INTO effect (text) VALUES ('first')");
          await client.query(end);
          await consume(shardOf(end === 'COMMIT' ? ['a1', 'a2'] : ['a1']), { by: other });
          await client.query('BEGIN');
          await once.postgres(client).finally(() => client.query('ROLLBACK'));
        },
        { parking: new MemoryParkingStore(), onDead: ({ partitionKey }) => dead.push(partitionKey) },
      );
      expect(await consumer.process(shardOf(['a1']), { source: SOURCE })).toEqual({ problems: [] });
      await other.end();
      expect({ dead, effects: await effects() }).toEqual(result);
    },
  );

  test('allows a handler to repeat a transaction that was rolled back', async () => {
    const consumer = new OrderedConsumer(
      async (record, { once }) => {
        for (const isLast of [false, true]) {
          await client.query('BEGIN');
          await once.postgres(client);
          await client.query('INSERT INTO effect (text) VALUES ($1)', [textOf(record)]);
          await client.query(isLast ? 'COMMIT' : 'ROLLBACK');
        }
      },
      { parking: new MemoryParkingStore() },
    );
    expect(await consumer.process(shardOf(['a1']), { source: SOURCE })).toEqual({ problems: [] });
    expect(await effects()).toEqual(['a1']);
  });
});
