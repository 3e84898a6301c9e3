import {
  type FanOutRequest,
  fanOutCount,
  fanOutItems,
  fanOutQuery,
  type IndexShards,
  planTableReshard,
  type ShardedTableConfig,
  transactDelete,
  transactPut,
} from '../../../../../lib/core';
import { seededRandom } from '../../../../../lib/testing/seeded-random';
import { allOf } from '../../../../support/all-of';
import { invoices } from '../../../../support/fakes/invoices';
import { TransactionalTable, textOf } from '../../../../support/fakes/transactional-table';
import { randomRuns, randomRunsTimeout } from '../../../../support/random-runs';

/** Random histories of a `KeyShardedTable` in memory: writers, readers, and counts that change. */

const CASES = randomRuns(100);
const ORDERS = ['ascending', 'descending', 'unordered'] as const;

function configOf(shards: IndexShards, shardedBy: string[]): ShardedTableConfig {
  return {
    ...invoices,
    tableKey: ['pk', 'sk'],
    valueAttribute: 'invoice',
    shardAttribute: 'pk',
    sortKeyAttributes: ['sk'],
    shardedBy,
    shards,
  };
}

async function play(seed: number): Promise<void> {
  const random = seededRandom(seed);
  const below = (count: number): number => Math.floor(random() * count);
  const shardedBy = random() < 0.5 ? ['sk'] : ['owner'];
  const [from, to] = [1 + below(8), 1 + below(8)];
  const steps = planTableReshard({ default: { write: from, read: from } }, { default: to });
  const stages = [
    { default: { write: from, read: from } },
    ...steps.flatMap((step) => (step.action === 'deploy' ? [step.shards] : [])),
  ];
  const moveBefore = steps.findIndex(({ action }) => action === 'move') + 1;
  let stage = 0;
  /**
   * Returns the counts of a reader or a writer. During a deployment, a process has the counts of the current stage or
   * of the next stage.
   */
  const config = (): ShardedTableConfig => {
    const next = stage + 1 < stages.length && stage + 1 !== moveBefore ? stage + below(2) : stage;
    return configOf(stages[next]!, shardedBy);
  };
  const table = new TransactionalTable(configOf(stages[0]!, shardedBy), { pageItems: 1 + below(6) });
  const oracle = new Map<string, string>();
  const touched = new Set<string>();
  const item = (id: number) => ({ invoice: '7', sk: `t${String(id).padStart(2, '0')}`, owner: `o${id % 5}` });

  const write = (): void => {
    const key = item(below(40));
    touched.add(key.sk);
    const version = String(below(1_000));
    const kind = below(3);
    if (kind === 0) {
      expect(table.transact(transactPut(config(), { ...key, version }, { ifAbsent: true }))).toBe(!oracle.has(key.sk));
      if (!oracle.has(key.sk)) oracle.set(key.sk, version);
    } else if (kind === 1) {
      table.transact(transactPut(config(), { ...key, version }));
      oracle.set(key.sk, version);
    } else {
      table.transact(transactDelete(config(), '7', key));
      oracle.delete(key.sk);
    }
    const stored = table.all().map(({ sk, version: stored }) => [textOf(sk!), textOf(stored!)]);
    expect(stored.sort()).toEqual([...oracle].sort());
  };
  const advance = (): void => {
    if (stage + 1 >= stages.length) return;
    if (stage + 1 === moveBefore) {
      const moving = configOf(stages[stage]!, shardedBy);
      for (const { sk, version } of table.all()) {
        const key = item(Number(textOf(sk!).slice(1)));
        touched.add(key.sk);
        table.transact(transactPut(moving, { ...key, version: textOf(version!) }));
      }
    }
    stage += 1;
  };

  for (let writes = below(60); writes > 0; writes--) write();
  for (let read = 0; read < 3; read++) {
    touched.clear();
    const before = [...oracle.keys()].sort();
    const order = ORDERS[below(3)]!;
    const condition = [{}, { sortKey: { beginsWith: 't1' } }, { sortKey: { gte: 't1' } }][below(3)]!;
    const request: FanOutRequest = {
      value: '7',
      order,
      ...condition,
      limit: 1 + below(8),
      consistentRead: random() < 0.5,
    };
    const meets = (sk: string): boolean =>
      condition.sortKey === undefined || ('gte' in condition.sortKey ? sk >= 't1' : sk.startsWith('t1'));
    const shown: string[] = [];
    let cursor: string | undefined;
    do {
      const projection = random() < 0.5 ? { projection: ['sk'] } : {};
      const page = await fanOutQuery(table, config(), { ...request, ...projection, cursor });
      shown.push(...page.items.map(({ sk }) => textOf(sk!)));
      cursor = page.cursor;
      for (let writes = below(4); writes > 0; writes--) write();
      if (random() < 0.3) advance();
    } while (cursor !== undefined);
    const stayed = (sk: string): boolean => !touched.has(sk);
    expect([seed, shown.filter(stayed).sort()]).toEqual([seed, before.filter(meets).filter(stayed)]);
    if (order === 'unordered') continue;
    const inOrder = order === 'ascending' ? [...shown].sort() : [...shown].sort().reverse();
    expect([seed, shown]).toEqual([seed, inOrder]);
    if (shardedBy[0] === 'sk') expect([seed, new Set(shown).size]).toEqual([seed, shown.length]);
  }
  const all = await allOf(fanOutItems(table, config(), { value: '7' }));
  expect([seed, all.map(({ sk }) => textOf(sk!)).sort()]).toEqual([seed, [...oracle.keys()].sort()]);
  expect(await fanOutCount(table, config(), { value: '7', consistentRead: true })).toMatchObject({
    count: oracle.size,
  });
}

test(
  `in ${CASES} random histories, each item is stored at most at one place, and the pages return it once`,
  async () => {
    for (let seed = 0; seed < CASES; seed++) await play(seed);
  },
  randomRunsTimeout(120_000),
);
