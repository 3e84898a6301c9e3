import { type FanOutRequest, shardAttributes } from '../../../lib/core';
import { indexConfig } from '../../support/index-config';
import { createTable } from '../../support/sharded-tables';
import type { Item, indexCalls } from './index-worker';
import { type Play, playVersions } from './play-versions';
import type { Version } from './version-worker';

type IndexCalls = ReturnType<typeof indexCalls>;

const TURNS = 3;
/** Few sort keys, so that most items share their sort key with other items. */
const SORT_KEYS = ['2026-01', '2026-02', '2026-03', '2026-04'];
const ARCHIVED = 40;
const STRAYS = 9;
const SEGMENTS = 2;
const ORDERS = ['ascending', 'descending'] as const;

playVersions<IndexCalls>(
  {
    scenario: 'writers and readers of an index',
    program: 'index-worker',
    seeds: 1,
    expected: ['cursor', 'count cursor', 'resume point'].flatMap((kind) => [
      `${kind} old to new`,
      `${kind} new to old`,
    ]),
  },
  playIndex,
);

interface Order extends Item {
  id: string;
  status: string;
  createdAt: string;
}

/**
 * Writers of the running versions put, update and delete items, and readers query them. A count and a scan for strays go on
 * through all phases, with one page in each step. Each page can come from another version than the previous page. Throws
 * unless each read finds each of its items once and in order.
 */
async function playIndex(play: Play<IndexCalls>): Promise<void> {
  const { name, phases, clients, add, exchanges, random, pick, worker, restart } = play;
  const { dynamodb } = clients;
  const config = indexConfig({
    tableName: name,
    tableKey: ['id'],
    keyLayout: 'single-attribute',
    shardAttribute: 'byStatusShard',
    shards: { default: { write: 2, read: 3 }, byValue: { archived: { write: 4, read: 4 } } },
  });
  await createTable(dynamodb, config, { id: 'S', byStatusShard: 'S', createdAt: 'S' });
  const orders = new Map<string, Order>();
  let written = 0;

  for (let number = 0; number < ARCHIVED; number++) await put(phases[0]!, 'archived');
  for (let number = 0; number < STRAYS; number++) {
    const item = { id: { S: `stray-${number}` }, status: { S: 'stray' }, createdAt: { S: pick(SORT_KEYS) } };
    await dynamodb.putItem({ TableName: name, Item: item });
  }
  const longReads = [longCount(), longScan()];
  for (const versions of phases) {
    for (let turn = 0; turn < TURNS; turn++) {
      for (let write = 0; write < 4; write++) await writeOrder(versions);
      await queryAll(versions);
      for (const read of longReads) await read(versions);
    }
    await restart();
  }

  async function put(versions: readonly Version[], status: string): Promise<void> {
    const order = { id: `order-${written++}`, status, createdAt: pick(SORT_KEYS), note: String(random()) };
    const version = pick(versions);
    await (await worker(version)).call('put', { configs: [config], item: order });
    orders.set(order.id, order);
    add('records');
  }

  async function writeOrder(versions: readonly Version[]): Promise<void> {
    const changeable = [...orders.values()].filter(({ status }) => status !== 'archived');
    const kind = random();
    if (kind < 0.5 || changeable.length === 0) return put(versions, pick(['open', 'done']));
    const order = pick(changeable);
    if (kind < 0.6) {
      orders.delete(order.id);
      await dynamodb.deleteItem({ TableName: name, Key: { id: { S: order.id } } });
      return;
    }
    const set = { status: pick(['open', 'done']), note: String(random()) };
    await (await worker(pick(versions))).call('update', { config, key: { id: order.id }, set });
    orders.set(order.id, { ...order, ...set });
    add('records');
  }

  /** Reads all pages of a random query, and compares the items with one page of each version. */
  async function queryAll(versions: readonly Version[]): Promise<void> {
    const request: FanOutRequest = {
      ...pick([{ value: 'open' }, { values: ['open', 'done'] }, { values: ['done', 'archived'] }]),
      order: pick(ORDERS),
      ...pick([
        {},
        { sortKey: { gte: '2026-02' } },
        { sortKey: { between: ['2026-02', '2026-03'] as [string, string] } },
      ]),
    };
    const pages = pagesOf(request);
    let items: Item[] | undefined;
    while (items === undefined) items = await pages(versions);
    for (const version of versions) {
      const whole = await (await worker(version)).call('query', { config, request });
      expectSame(`the pages of ${JSON.stringify(request)}`, items, whole.items);
    }
    const wanted = [...orders.values()].filter(({ status, createdAt }) => {
      const values: unknown[] = request.values ?? [request.value];
      const { gte, between } = (request.sortKey ?? {}) as { gte?: string; between?: [string, string] };
      const isInRange =
        between === undefined ? createdAt >= (gte ?? '') : between[0] <= createdAt && createdAt <= between[1];
      return values.includes(status) && isInRange;
    });
    expectSame(
      'the items of the query',
      sorted(items),
      sorted(wanted.map((order) => ({ ...order, ...shardAttributes(config, order) }))),
    );
  }

  /** Reads one page in each call. Returns the items of all pages after the last page. */
  function pagesOf(request: FanOutRequest): (versions: readonly Version[]) => Promise<Item[] | undefined> {
    const items: Item[] = [];
    let cursor: string | undefined;
    const count = exchanges('cursor');
    return async (versions) => {
      const version = pick(versions);
      count(version);
      const limit = 1 + Math.floor(random() * 6);
      const page = await (await worker(version)).call('query', {
        config,
        request: { ...request, limit, ...(cursor !== undefined && { cursor }) },
      });
      items.push(...page.items);
      cursor = page.cursor;
      add('pages');
      return cursor === undefined ? items : undefined;
    };
  }

  function longCount(): (versions: readonly Version[]) => Promise<void> {
    let [total, cursor, exchanged] = [0, undefined as string | undefined, exchanges('count cursor')];
    return async (versions) => {
      const version = pick(versions);
      exchanged(version);
      const request = { value: 'archived', ...(cursor !== undefined && { cursor }) };
      const result = await (await worker(version)).call('count', {
        config,
        request,
        requests: 1 + Math.floor(random() * 3),
      });
      total += result.count;
      cursor = result.cursor;
      if (cursor !== undefined) return;
      if (total !== ARCHIVED) throw new Error(`the long count has found ${total} items`);
      [total, exchanged] = [0, exchanges('count cursor')];
    };
  }

  function longScan(): (versions: readonly Version[]) => Promise<void> {
    let [segment, strays, resumeFrom, exchanged] = [0, 0, undefined as string | undefined, exchanges('resume point')];
    return async (versions) => {
      const version = pick(versions);
      exchanged(version);
      const from = resumeFrom === undefined ? {} : { resumeFrom };
      const report = await (await worker(version)).call('findStrays', {
        config,
        segment,
        totalSegments: SEGMENTS,
        ...from,
        pages: 1,
      });
      strays += Object.values(report.strays).reduce((sum, count) => sum + count, 0);
      resumeFrom = report.resumePoint;
      if (resumeFrom !== undefined) return;
      segment += 1;
      exchanged = exchanges('resume point');
      if (segment < SEGMENTS) return;
      if (strays !== STRAYS) throw new Error(`the scan has found ${strays} strays instead of ${STRAYS}`);
      [segment, strays] = [0, 0];
    };
  }
}

function sorted(items: readonly Item[]): Item[] {
  return [...items].sort((a, b) => (String(a.id) < String(b.id) ? -1 : 1));
}

function expectSame(what: string, found: readonly Item[], wanted: readonly Item[]): void {
  const text = (items: readonly Item[]) => items.map((item) => JSON.stringify(Object.entries(item).sort())).join('\n');
  if (text(found) !== text(wanted)) throw new Error(`${what}:\n${text(found)}\ninstead of\n${text(wanted)}`);
}
