import { assert, asyncProperty, constantFrom, integer, record } from 'fast-check';
import {
  type CqlClient,
  type CqlRow,
  fanOutRows,
  fanOutSelectCount,
  type ShardedKeyspacesConfig,
  WrongOrderError,
} from '../../../../lib/core/keyspaces';
import { seededRandom } from '../../../../lib/testing/seeded-random';
import { FakeCassandra } from '../../../support/fakes/fake-cassandra';
import { keyspacesConfig } from '../../../support/keyspaces-config';
import { randomRuns } from '../../../support/random-runs';

const SHARDS = 3;
const day = '2020-07-09';
const byNumber = (a: string, b: string) => Number(a) - Number(b);

type Order = 'ASC' | 'DESC';

function configOf(minute: Order, id: Order): ShardedKeyspacesConfig {
  return keyspacesConfig({
    tableName: 'events',
    partitionKey: [{ name: 'day', type: 'date' }],
    firstShard: 0,
    clusteringColumns: [
      { name: 'minute', type: 'int', order: minute },
      { name: 'id', type: 'int', order: id },
    ],
    shards: { default: { write: SHARDS, read: SHARDS } },
  });
}

function tableOf(config: ShardedKeyspacesConfig, count: number, random: () => number): FakeCassandra {
  const table = new FakeCassandra({
    partitionKey: ['day', 'shard'],
    clusteringColumns: config.clusteringColumns.map(({ name, order }) => ({ name, order, compare: byNumber })),
  });
  for (let id = 0; id < count; id++) {
    table.insert({ day, shard: Math.floor(random() * SHARDS), minute: Math.floor(random() * 4), id, body: 'x' });
  }
  return table;
}

/** Functions that change the rows of a response. Each returns whether the order of the rows is now wrong. */
const TAMPERINGS: Record<string, (rows: CqlRow[], before: CqlRow | undefined) => boolean> = {
  reverse: (rows) => rows.reverse().length > 1,
  swap(rows) {
    if (rows.length < 2) return false;
    rows.splice(0, 2, rows[1]!, rows[0]!);
    return true;
  },
  'a row of the response before at the end': (rows, before) =>
    before !== undefined && rows.length > 1 && rows.push(before) > 1,
};

const ENTRY_POINTS = {
  async fanOutRows(client: CqlClient, config: ShardedKeyspacesConfig, order: 'ascending', limit: number) {
    const ids: number[] = [];
    for await (const { id } of fanOutRows(client, config, { value: { day }, order, limit })) ids.push(id as number);
    return ids.sort((a, b) => a - b);
  },
  async fanOutSelectCount(client: CqlClient, config: ShardedKeyspacesConfig) {
    return (await fanOutSelectCount(client, config, { value: { day } })).count;
  },
};

const axes = record({
  seed: integer({ min: 0 }),
  minute: constantFrom<Order>('ASC', 'DESC'),
  id: constantFrom<Order>('ASC', 'DESC'),
  order: constantFrom('ascending', 'descending', 'unordered'),
  limit: integer({ min: 1, max: 12 }),
  count: integer({ min: 0, max: 40 }),
  entryPoint: constantFrom<keyof typeof ENTRY_POINTS>('fanOutRows', 'fanOutSelectCount'),
});

/** The client of a table whose responses are changed by `change`. */
function proxy(table: FakeCassandra, change: (rows: CqlRow[], shard: unknown) => void): CqlClient {
  return {
    async execute(query, parameters, options) {
      const { rows, ...rest } = await table.execute(query, parameters, options);
      const changed = [...rows!];
      change(changed, parameters[1]);
      return { ...rest, rows: changed };
    },
  };
}

describe.each(Object.entries(TAMPERINGS))('responses with rows in a wrong order – %s', (_, tamper) => {
  test('a read of all rows throws WrongOrderError; if the change left every response in order, it returns each row once', async () => {
    let wrongs = 0;
    await assert(
      asyncProperty(axes, async ({ seed, minute, id, order, limit, count, entryPoint }) => {
        const random = seededRandom(seed);
        const config = configOf(minute, id);
        const firstRows = new Map<unknown, CqlRow>();
        let wrong = false;
        const client = proxy(tableOf(config, count, random), (rows, shard) => {
          const before = firstRows.get(shard);
          if (rows[0] !== undefined && before === undefined) firstRows.set(shard, rows[0]);
          if (!wrong && random() < 0.5) wrong = tamper(rows, before);
        });
        const outcome = await ENTRY_POINTS[entryPoint](client, config, order as 'ascending', limit).catch(
          (error: unknown) => error,
        );
        const all = Array.from({ length: count }, (_row, number) => number);
        if (wrong) {
          wrongs += 1;
          expect(outcome).toBeInstanceOf(WrongOrderError);
        } else expect(outcome).toEqual(entryPoint === 'fanOutRows' ? all : count);
      }),
      { numRuns: randomRuns(120), seed: 5 },
    );
    expect(wrongs).toBeGreaterThan(10);
  });
});
