import { CqlType, ShardCounts } from '../../../lib';
import {
  type CqlClient,
  fanOutRows,
  fanOutSelectCount,
  findStrayRows,
  KEYSPACES_WRITE_OPTIONS,
  type ReshardRowsOptions,
  reshardRows,
  type ShardedKeyspacesConfig,
  selectRow,
  shardColumns,
} from '../../../lib/core/keyspaces';
import { seededRandom } from '../../../lib/testing/seeded-random';
import { allOf } from '../../support/all-of';
import { keyspacesConfig } from '../../support/keyspaces-config';
import { cassandraForTests } from './cassandra';
import { emitted } from './create-table';

const cassandra = cassandraForTests('tracker');

const counted = (config: ShardedKeyspacesConfig, count: number): ShardedKeyspacesConfig => ({
  ...config,
  shards: { default: { write: count, read: Math.max(count, 20) } },
});

async function tableOf(tableName: string): Promise<ShardedKeyspacesConfig> {
  const { cql, config } = emitted({
    keyspaceName: 'tracker',
    tableName,
    partitionKey: [{ name: 'day', cqlType: CqlType.DATE }],
    clusteringColumns: [{ name: 'id', cqlType: CqlType.INT }],
    regularColumns: [
      { name: 'body', cqlType: CqlType.TEXT },
      { name: 'version', cqlType: CqlType.INT },
      { name: 'tags', cqlType: CqlType.of('frozen<set<text>>') },
    ],
    shardCounts: ShardCounts.uniform(5),
    firstShard: 1,
  });
  await cassandra.client.execute(cql);
  return config;
}

const byDay = keyspacesConfig({
  tableName: 'grown',
  partitionKey: [{ name: 'day', type: 'date' }],
  firstShard: 0,
  columns: [],
  shards: { default: { write: 5, read: 5 } },
});

const day = '2020-07-09';

async function put(config: ShardedKeyspacesConfig, id: number, version: number): Promise<void> {
  const { shard } = shardColumns(config, { day, id });
  const query = `INSERT INTO tracker.${config.tableName} (day, shard, id, body, version, tags) VALUES (?, ?, ?, ?, ?, ?)`;
  const tags = id % 3 === 0 ? null : [`tag ${id}`];
  await cassandra.client.execute(
    query,
    [day, shard, id, id % 2 === 0 ? null : `row ${id}`, version, tags],
    KEYSPACES_WRITE_OPTIONS,
  );
}

async function versionsOf(config: ShardedKeyspacesConfig): Promise<[number, number][]> {
  const rows = await allOf(fanOutRows(cassandra.client, config, { value: { day } }));
  return rows.map(({ id, version }) => [id, version]);
}

test('reshardRows – from 5 shards to 20 – moves each row once to its shard, with all columns', async () => {
  const five = await tableOf('grown');
  for (let id = 0; id < 300; id++) await put(five, id, 1);
  const twenty = counted(five, 20);
  const found = await findStrayRows(cassandra.client, twenty);
  expect(found.rowsScanned).toBe(300);
  expect(found.strays).toBeGreaterThan(150);
  const reports = [];
  for (let segment = 0; segment < 4; segment++) {
    reports.push(await reshardRows(cassandra.client, twenty, { segment, totalSegments: 4 }));
  }
  expect(reports.reduce((sum, { outcomes }) => sum + outcomes.moved, 0)).toBe(found.strays);
  expect((await findStrayRows(cassandra.client, twenty)).strays).toBe(0);
  expect(await versionsOf(twenty)).toEqual(Array.from({ length: 300 }, (_, id) => [id, 1]));
  expect(await fanOutSelectCount(cassandra.client, twenty, { value: { day } })).toMatchObject({ count: 300 });
  const row = await selectRow(cassandra.client, twenty, { day, id: 7 });
  expect(row).toMatchObject({ body: 'row 7', version: 1, tags: ['tag 7'] });
}, 120_000);

/** A client of a process that crashes at a statement, before or after the server has applied the statement. */
function lostAt(random: () => number): CqlClient {
  return {
    execute: async (query, parameters, options) => {
      const fate = query.startsWith('SELECT') ? 1 : random();
      if (fate < 0.01) throw new Error('lost before');
      const result = await cassandra.client.execute(query, parameters, options as never);
      if (fate < 0.02) throw new Error('lost after');
      return result;
    },
  };
}

test.each([1, 2, 3, 4])(
  'reshardRows – processes crash while writers use the new counts – loses and duplicates no row: seed %d',
  async (seed) => {
    const random = seededRandom(seed);
    const five = await tableOf(`lost_${seed}`);
    const newest = new Map<number, number>();
    for (let id = 0; id < 200; id++) {
      await put(five, id, 1);
      newest.set(id, 1);
    }
    const count = 1 + Math.floor(random() * 20);
    const changed = counted(five, count);
    let isMoving = true;
    const writing = (async () => {
      while (isMoving) {
        const id = Math.floor(random() * 220);
        const version = (newest.get(id) ?? 1) + 1;
        await put(changed, id, version);
        newest.set(id, version);
      }
    })();
    let losses = 0;
    const options: ReshardRowsOptions = { totalSegments: 1 };
    for (;;) {
      try {
        const { outcomes } = await reshardRows(lostAt(random), changed, options);
        expect(outcomes.refused).toBe(0);
        break;
      } catch (error) {
        expect((error as Error).message).toMatch(/^lost/);
        losses += 1;
      }
    }
    isMoving = false;
    await writing;
    expect((await findStrayRows(cassandra.client, changed)).strays).toBe(0);
    expect(new Map(await versionsOf(changed))).toEqual(new Map([...newest].sort(([a], [b]) => a - b)));
    expect(await versionsOf(changed)).toHaveLength(newest.size);
    expect(losses).toBeGreaterThan(count === 5 ? -1 : 0);
  },
  120_000,
);

/** A statement that a client sends with a timestamp one hour later than the clock of the server. */
interface Ahead {
  what: string;
  /** The statement up to its WHERE clause, without the table. */
  statement?: (table: string, time: string) => string;
  /**
   * True if the statement changes the row in the shard of the new count, false if in the shard of the previous count.
   */
  isAtPlace?: boolean;
  outcome: 'moved' | 'refused';
}

const AHEAD: Ahead[] = [
  { what: 'nothing', outcome: 'moved' },
  {
    what: 'an update of a value',
    statement: (table, time) => `UPDATE ${table} ${time} SET body = 'ahead'`,
    outcome: 'refused',
  },
  {
    what: 'an update of a collection',
    statement: (table, time) => `UPDATE ${table} ${time} SET tags = {'ahead'}`,
    outcome: 'refused',
  },
  {
    what: 'a delete of a value of the row',
    statement: (table, time) => `DELETE body FROM ${table} ${time}`,
    outcome: 'moved',
  },
  {
    what: 'a delete at the place of the row',
    statement: (table, time) => `DELETE FROM ${table} ${time}`,
    isAtPlace: true,
    outcome: 'refused',
  },
  {
    what: 'a delete of a value at the place of the row',
    statement: (table, time) => `DELETE body FROM ${table} ${time}`,
    isAtPlace: true,
    outcome: 'refused',
  },
  {
    what: 'a delete of the partition at the place of the row',
    statement: (table, time) => `DELETE FROM ${table} ${time}`,
    isAtPlace: true,
    outcome: 'refused',
  },
];

test.each(AHEAD)(
  'reshardRows – $what, with a timestamp ahead of the clock of the server – has the outcome $outcome and loses no value',
  async (ahead) => {
    const five = await tableOf(`ahead_${AHEAD.indexOf(ahead)}`);
    const table = `tracker.${five.tableName}`;
    const twenty = counted(five, 20);
    const id = Array.from({ length: 20 }, (_, each) => 1 + 2 * each).find(
      (each) => shardColumns(five, { day, id: each }).shard !== shardColumns(twenty, { day, id: each }).shard,
    )!;
    await put(five, id, 1);
    const time = `USING TIMESTAMP ${(Date.now() + 3_600_000) * 1_000}`;
    const { shard } = shardColumns(ahead.isAtPlace ? twenty : five, { day, id });
    const row = ahead.what.includes('partition') ? '' : ` AND id = ${id}`;
    if (ahead.statement !== undefined) {
      await cassandra.client.execute(`${ahead.statement(table, time)} WHERE day = '${day}' AND shard = ${shard}${row}`);
    }
    const rows = async () =>
      (await cassandra.client.execute(`SELECT id, body, version, tags FROM ${table}`)).rows.map((each) => ({
        ...each,
      }));
    const before = await rows();
    for (const run of [1, 2]) {
      const { outcomes } = await reshardRows(cassandra.client, twenty);
      const isDone = ahead.outcome === 'moved' && run === 2;
      expect(outcomes).toEqual({ moved: 0, settled: 0, refused: 0, ...(!isDone && { [ahead.outcome]: 1 }) });
      expect(await rows()).toEqual(before);
    }
  },
);

/** A column for each type, with a value that only other clients write. */
const ODD_COLUMNS: [type: string, literal: string][] = [
  ['list<text>', "['a', 'b']"],
  ['set<int>', '{}'],
  ['map<text, int>', "{'a': 1}"],
  ['frozen<list<text>>', "['a']"],
  ['tuple<int, text>', "(1, 'a')"],
  ['duration', '1mo2d3h'],
  ['inet', "'10.0.0.1'"],
  ['double', 'NaN'],
  ['timestamp', '9223372036854775807'],
  ['timestamp', '1594279800000'],
  ['date', "'-0044-03-15'"],
  ['decimal', '1E-400000000'],
  ['varint', '9'.repeat(400)],
  ['time', "'08:30:00.123456789'"],
  ['text', 'null'],
];

test.each(ODD_COLUMNS.map(([type, literal], number) => ({ type, literal, number })))(
  'reshardRows – $literal in a column of the type $type – does not change the value',
  async ({ type, literal, number }) => {
    const tableName = `odd_column_${number}`;
    await cassandra.client.execute(
      `CREATE TABLE tracker.${tableName} (day date, shard int, id int, odd ${type}, PRIMARY KEY ((day, shard), id))`,
    );
    await cassandra.client.execute(
      `INSERT INTO tracker.${tableName} (day, shard, id, odd) VALUES ('${day}', 9, 1, ${literal})`,
    );
    const rows = `SELECT shard, toJson(odd) AS odd FROM tracker.${tableName}`;
    const [before] = (await cassandra.client.execute(rows)).rows;
    const config = counted({ ...byDay, tableName, columns: ['odd'] }, 5);
    expect((await reshardRows(cassandra.client, config)).outcomes).toEqual({ moved: 1, settled: 0, refused: 0 });
    const after = (await cassandra.client.execute(rows)).rows.map(({ shard, odd }) => ({ shard, odd }));
    expect(after).toEqual([{ ...shardColumns(config, { day, id: 1 }), odd: before!.odd }]);
  },
);

test.each([
  ['timestamp', '-9223372036854775808'],
  ['decimal', '1E-400000000'],
  ['varint', '9'.repeat(500)],
  ['date', '0'],
  ['double', '-0.0'],
] as const)('reshardRows – a key of the type %s with the value %s – moves the row', async (type, literal) => {
  const tableName = `odd_key_${type}`;
  await cassandra.client.execute(
    `CREATE TABLE tracker.${tableName} (day date, shard int, id ${type}, v text, PRIMARY KEY ((day, shard), id))`,
  );
  await cassandra.client.execute(
    `INSERT INTO tracker.${tableName} (day, shard, id, v) VALUES ('${day}', 9, ${literal}, 'v')`,
  );
  const clusteringColumns = [{ name: 'id', type, order: 'ASC' as const }];
  const config = counted({ ...byDay, tableName, clusteringColumns, columns: ['v'] }, 5);
  expect((await reshardRows(cassandra.client, config)).outcomes).toEqual({ moved: 1, settled: 0, refused: 0 });
  expect(await findStrayRows(cassandra.client, config)).toMatchObject({ rowsScanned: 1, strays: 0 });
});
