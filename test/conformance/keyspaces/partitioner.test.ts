import {
  fanOutSelectCount,
  findStrayRows,
  KEYSPACES_WRITE_OPTIONS,
  reshardRows,
  type ShardedKeyspacesConfig,
  shardColumns,
} from '../../../lib/core/keyspaces';
import { keyspacesConfig } from '../../support/keyspaces-config';
import { cassandraForTests } from './cassandra';

/**
 * Tests tables with RandomPartitioner tokens, which Amazon Keyspaces also uses with its DefaultPartitioner. The other
 * suites use Murmur3Partitioner.
 */

const cassandra = cassandraForTests('tracker', 'RandomPartitioner');
beforeAll(async () => {
  await cassandra.client.execute(
    'CREATE TABLE tracker.blogs (day text, shard int, id int, body text, PRIMARY KEY ((day, shard), id))',
  );
});

const DAYS = Array.from({ length: 20 }, (_, day) => `d${day}`);
const ROWS_OF_A_DAY = 20;

const counted = (write: number, read = 10): ShardedKeyspacesConfig =>
  keyspacesConfig({ columns: ['body'], shards: { default: { write, read } } });

test('reshardRows – RandomPartitioner – scans every row in any number of segments, and moves each row to its shard', async () => {
  for (const day of DAYS) {
    for (let id = 0; id < ROWS_OF_A_DAY; id++) {
      const { shard } = shardColumns(counted(10), { day, id });
      const insert = 'INSERT INTO tracker.blogs (day, shard, id, body) VALUES (?, ?, ?, ?)';
      await cassandra.client.execute(insert, [day, shard, id, 'x'], KEYSPACES_WRITE_OPTIONS);
    }
  }
  const rows = DAYS.length * ROWS_OF_A_DAY;
  const five = counted(5);
  for (const totalSegments of [1, 2, 7, 200]) {
    let rowsScanned = 0;
    for (let segment = 0; segment < totalSegments; segment++) {
      rowsScanned += (await findStrayRows(cassandra.client, five, { segment, totalSegments })).rowsScanned;
    }
    expect([totalSegments, rowsScanned]).toEqual([totalSegments, rows]);
  }
  const { strays } = await findStrayRows(cassandra.client, five);
  expect(strays).toBeGreaterThan(rows / 4);
  const reports = [0, 1, 2].map((segment) => reshardRows(cassandra.client, five, { segment, totalSegments: 3 }));
  const moved = (await Promise.all(reports)).reduce((sum, { outcomes }) => sum + outcomes.moved, 0);
  expect(moved).toBe(strays);
  let found = 0;
  for (const day of DAYS) found += (await fanOutSelectCount(cassandra.client, counted(5, 5), { value: { day } })).count;
  expect(found).toBe(rows);
}, 120_000);

test('Cassandra with RandomPartitioner – a token range whose bounds are the first token, the last token or the tokens of rows – accepts the bounds', async () => {
  const { rows } = await cassandra.client.execute('SELECT token(day, shard) AS place FROM tracker.blogs');
  const tokens = rows.map(({ place }) => BigInt(String(place)));
  const count = async (first: bigint, last: bigint) => {
    const where = `token(day, shard) >= ${first} AND token(day, shard) <= ${last}`;
    const [row] = (await cassandra.client.execute(`SELECT count(*) AS count FROM tracker.blogs WHERE ${where}`)).rows;
    return Number(row!.count);
  };
  const token = tokens[tokens.length >> 1]!;
  const below = await count(0n, token - 1n);
  const at = await count(token, token);
  const above = await count(token + 1n, 2n ** 127n);
  expect(at).toBe(tokens.filter((each) => each === token).length);
  expect(below + at + above).toBe(tokens.length);
});
