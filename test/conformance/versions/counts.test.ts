import { isDeepStrictEqual } from 'node:util';
import { indexConfig } from '../../support/index-config';
import { createKeyedTable } from '../../support/keyed-table';
import { createTable } from '../../support/sharded-tables';
import type { countsCalls } from './counts-worker';
import { type Play, playVersions } from './play-versions';
import type { Version } from './version-worker';

type CountsCalls = ReturnType<typeof countsCalls>;

const TURNS = 3;
const STATUSES = ['open', 'done'];
const MAXIMUM = 9;

playVersions<CountsCalls>(
  {
    scenario: 'adaptive counts of an index',
    program: 'counts-worker',
    seeds: 1,
    expected: ['increases', 'interrupted', 'decreases', 'counts old to new', 'counts new to old'],
  },
  playCounts,
);

/**
 * The running versions increase and decrease the counts of an index, and continue interrupted changes of each other, while
 * writers and readers of the running versions use the index. Throws unless each version finds every item.
 */
async function playCounts(play: Play<CountsCalls>): Promise<void> {
  const { name, phases, clients, add, random, pick, worker, restart } = play;
  const { dynamodb } = clients;
  const config = indexConfig({
    version: 2,
    tableName: name,
    tableKey: ['id'],
    keyLayout: 'single-attribute',
    shardAttribute: 'byStatusShard',
    shards: { default: { write: 1, read: 1 } },
    adaptive: { tableName: `${name}-counts`, maximum: MAXIMUM },
    longestWriteSeconds: 1,
  });
  await createTable(dynamodb, config, { id: 'S', byStatusShard: 'S', createdAt: 'S' });
  await createKeyedTable(dynamodb, `${name}-counts`, 'index', 'value');
  const ids = new Map<string, string[]>(STATUSES.map((status) => [status, []]));
  let written = 0;
  let now = 1;
  let changedBy: Version | undefined;

  for (const versions of phases) {
    await check(versions);
    for (let turn = 0; turn < TURNS; turn++) {
      for (const status of STATUSES) await put(versions, status);
      await change(versions, pick(STATUSES));
      for (const status of STATUSES) await put(versions, status);
      await check(versions);
      now += Math.floor(random() * 20_000);
    }
    await restart();
  }

  async function put(versions: readonly Version[], status: string): Promise<void> {
    for (let item = 0; item < 3; item++) {
      const id = `${status}-${written}`;
      ids.get(status)!.push(id);
      await (await worker(pick(versions))).call('put', {
        config,
        now,
        item: { id, status, createdAt: `2026-0${1 + (written % 5)}` },
      });
      written += 1;
    }
  }

  /** Another process completes an interrupted change, and may be of the other version. */
  async function change(versions: readonly Version[], value: string): Promise<void> {
    const count = await (await worker(pick(versions))).call('count', { config, now, value });
    const write = count?.write ?? 1;
    const to = 1 + Math.floor(random() * MAXIMUM);
    if (to === write) return;
    const kind = to > write ? 'increase' : 'decrease';
    const input = { config, value, to };
    if (random() < 0.4) {
      const failed = await (await worker(pick(versions)))
        .call(kind, { ...input, now, isInterrupted: true })
        .catch((error: Error) => error);
      if (!String(failed).includes('ended during a wait'))
        throw new Error(`the interrupted ${kind} has the result ${String(failed)}`);
      add('interrupted');
      for (const status of STATUSES) await put(versions, status);
    }
    changedBy = pick(versions);
    const changer = await worker(changedBy);
    if (to > write) {
      now = await changer.call('increase', { ...input, now, isInterrupted: false });
      add('increases');
      return;
    }
    const decreased = await changer.call('decrease', { ...input, now, isInterrupted: false });
    now = decreased.now;
    await check(versions);
    await (await worker(pick(versions))).call('drain', { config, now });
    changedBy = pick(versions);
    const drained = await (await worker(changedBy)).call('endDrain', {
      config,
      now,
      value,
      version: decreased.version,
    });
    if (drained.read !== to) throw new Error(`readers query ${drained.read} shards instead of ${to}`);
    add('decreases');
  }

  async function check(versions: readonly Version[]): Promise<void> {
    for (const version of versions) {
      const reader = await worker(version);
      if (changedBy !== undefined && changedBy !== version) add(`counts ${changedBy} to ${version}`);
      const stored = await reader.call('count', { config, now, value: 'open' });
      for (const other of versions) {
        const same = await (await worker(other)).call('count', { config, now, value: 'open' });
        if (!isDeepStrictEqual(stored, same)) throw new Error(`the versions read ${JSON.stringify([stored, same])}`);
      }
      for (const value of STATUSES) {
        const { ids: found } = await reader.call('query', { config, now, request: { value } });
        const wanted = ids.get(value)!;
        if (found.toSorted().join() !== wanted.toSorted().join())
          throw new Error(`the ${version} version finds ${found.length} of ${wanted.length} items`);
      }
    }
  }
}
