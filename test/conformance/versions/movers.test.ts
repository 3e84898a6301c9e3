import {
  type IndexShards,
  planTableReshard,
  type ReshardItemsReport,
  type ShardedConfig,
  type ShardedIndexConfig,
  type ShardedTableConfig,
  shardAttributes,
  type TableReshardStep,
} from '../../../lib/core';
import { indexConfig } from '../../support/index-config';
import { createTable } from '../../support/sharded-tables';
import type { Item, indexCalls } from './index-worker';
import { type Play, playVersions } from './play-versions';
import type { Version } from './version-worker';

type IndexCalls = ReturnType<typeof indexCalls>;

const TURNS = 3;
const VALUES = ['v1', 'v2'];
const ITEMS = 30;
const SEGMENTS = 2;
const COUNTS = [1, 2, 3, 5];

playVersions<IndexCalls>(
  {
    scenario: 'movers of items',
    program: 'index-worker',
    seeds: 1,
    expected: ['moved', 'reshards', 'resume point old to new', 'resume point new to old'],
  },
  playMovers,
);

interface Body extends Item {
  value: string;
  sk: string;
  note: string;
}

/**
 * The counts of a table that is sharded by its own key change again and again, while writers of the running versions put
 * and delete items. Movers of the running versions continue each other's scans. Movers of an index do the same with items
 * that have no shard or a wrong shard. Throws unless each item has one place, and each version finds it there.
 */
async function playMovers(play: Play<IndexCalls>): Promise<void> {
  const { name, phases, clients, add, exchanges, random, pick, worker, restart } = play;
  const { dynamodb } = clients;
  let table: ShardedTableConfig = {
    tableName: `${name}-table`,
    tableKey: ['pk', 'sk'],
    keyLayout: 'single-attribute',
    valueAttribute: 'value',
    shardAttribute: 'pk',
    sortKeyAttributes: ['sk'],
    shardedBy: ['sk'],
    separator: '-',
    firstShard: 1,
    shards: { default: { write: 2, read: 2 } },
    strategy: 'calculated',
  };
  const index = indexConfig({
    tableName: `${name}-index`,
    tableKey: ['id'],
    keyLayout: 'single-attribute',
    shardAttribute: 'byStatusShard',
    sortKeyAttributes: [],
    shards: { default: { write: 3, read: 3 } },
  });
  await createTable(dynamodb, table, { pk: 'S', sk: 'S' });
  await createTable(dynamodb, index, { id: 'S', byStatusShard: 'S' });
  const items = new Map<string, Body>();
  let steps: TableReshardStep[] = [];
  let tableScan: ReturnType<typeof longMove> | undefined;
  let indexScan = await newIndexScan();

  for (const versions of phases) {
    for (let turn = 0; turn < TURNS; turn++) {
      for (let write = 0; write < 5; write++) await writeItem(versions);
      await advance(versions);
      if (await indexScan(versions)) indexScan = await newIndexScan();
      await writeItem(versions);
    }
    await checkTable(versions);
    await restart();
  }
  const last = phases.at(-1)!;
  while (steps.length > 0) await advance(last);
  while (!(await indexScan(last)));
  await checkTable(last);
  const { strays } = await (await worker(pick(last))).call('findStrays', {
    config: table,
    segment: 0,
    totalSegments: 1,
    pages: 1e9,
  });
  const left = Object.values(strays).reduce((sum, count) => sum + count, 0);
  if (left > 0) throw new Error(`${left} strays remain: ${JSON.stringify(strays)}`);

  /** Puts or deletes an item in a transaction, and checks the result. */
  async function writeItem(versions: readonly Version[]): Promise<void> {
    const [value, sk] = [pick(VALUES), `t${Math.floor(random() * ITEMS)}`];
    const id = `${value}/${sk}`;
    const body = { value, sk, note: String(random()) };
    const running = await worker(pick(versions));
    const kind = random();
    if (kind < 0.2) {
      await running.call('transactDelete', { config: table, value, key: { sk } });
      items.delete(id);
    } else {
      const ifAbsent = kind < 0.4;
      const isPut = await running.call('transactPut', { config: table, item: body, ifAbsent });
      if (isPut !== (!ifAbsent || !items.has(id))) throw new Error(`the put of ${id} has the result ${isPut}`);
      if (isPut) items.set(id, body);
    }
    add('records');
    const found = await (await worker(pick(versions))).call('find', { config: table, value, key: { sk } });
    const texts = found.map(({ pk: _, ...rest }) => JSON.stringify(Object.entries(rest).sort()));
    const wanted = items.has(id) ? [JSON.stringify(Object.entries(items.get(id)!).sort())] : [];
    if (texts.join() !== wanted.join()) throw new Error(`${id} is ${texts.join()} instead of ${wanted.join()}`);
  }

  /** Begins a change of the counts, deploys its next counts, or moves the items of the next page. */
  async function advance(versions: readonly Version[]): Promise<void> {
    if (steps.length === 0) {
      steps = planTableReshard(table.shards, { default: pick(COUNTS) });
      add('reshards', Number(steps.length > 0));
    }
    const [step] = steps;
    if (step?.action === 'deploy') table = { ...table, shards: step.shards as IndexShards };
    else if (step?.action === 'move') {
      tableScan ??= longMove(table);
      if (!(await tableScan(versions))) return;
      tableScan = undefined;
    }
    steps = steps.slice(1);
  }

  /** Makes a wrong shard of some items, and returns a scan that gives each item its shard. */
  async function newIndexScan(): Promise<ReturnType<typeof longMove>> {
    for (let number = 0; number < ITEMS; number++) {
      const item = { id: `order-${number}`, status: pick(['open', 'done']), note: String(random()) };
      const shard = pick([undefined, 'lost', `${item.status}#7`, shardAttributes(index, item).byStatusShard as string]);
      const strings = Object.entries({ ...item, ...(shard && { byStatusShard: shard }) });
      const Item = Object.fromEntries(strings.map(([attribute, text]) => [attribute, { S: text }]));
      await dynamodb.putItem({ TableName: index.tableName, Item });
    }
    const scan = longMove(index);
    return async (versions) => {
      if (!(await scan(versions))) return false;
      await checkIndex(versions, index);
      return true;
    };
  }

  /** Moves the items of one page in each call. Returns whether the scan of all segments is complete. */
  function longMove(config: ShardedConfig): (versions: readonly Version[]) => Promise<boolean> {
    let [segment, resumeFrom, count] = [0, undefined as string | undefined, exchanges('resume point')];
    return async (versions) => {
      const version = pick(versions);
      count(version);
      const from = resumeFrom === undefined ? {} : { resumeFrom };
      const input = { config, segment, totalSegments: SEGMENTS, ...from, pages: 2, versionAttribute: 'note' };
      const report: ReshardItemsReport = await (await worker(version)).call('reshard', input);
      add('moved', report.outcomes.moved);
      if (report.outcomes.refused > 0)
        throw new Error(`the ${version} version refused ${report.outcomes.refused} items`);
      resumeFrom = report.resumePoint;
      if (resumeFrom === undefined) [segment, count] = [segment + 1, exchanges('resume point')];
      return segment === SEGMENTS;
    };
  }

  async function checkTable(versions: readonly Version[]): Promise<void> {
    for (const version of versions) {
      const request = { values: VALUES };
      const { items: found } = await (await worker(version)).call('query', { config: table, request });
      const ids = found.map(({ value, sk, note }) => `${value}/${sk} ${note}`).sort();
      const wanted = [...items].map(([id, { note }]) => `${id} ${note}`).sort();
      if (ids.join('\n') !== wanted.join('\n'))
        throw new Error(`the ${version} version finds\n${ids.join('\n')}\ninstead of\n${wanted.join('\n')}`);
    }
  }

  async function checkIndex(versions: readonly Version[], config: ShardedIndexConfig): Promise<void> {
    for (const version of versions) {
      const { items: found } = await (await worker(version)).call('query', {
        config,
        request: { values: ['open', 'done'] },
      });
      if (found.length !== ITEMS)
        throw new Error(`the ${version} version finds ${found.length} of ${ITEMS} items of the index`);
    }
  }
}
