import { type HashKeyOwner, shardIndexOf, uniformRanges } from '../../../lib/core';
import { createKeyedTable } from '../../support/keyed-table';
import { type Play, playVersions } from './play-versions';
import type { registryCalls } from './registry-worker';
import type { Version } from './version-worker';

type RegistryCalls = ReturnType<typeof registryCalls>;

const TURNS = 4;
const RANGES = uniformRanges(5);
const OWNERS = Array.from({ length: 40 }, (_, number) => `owner-${number}`);
/** Calls that run in parallel, so that ledgers of both versions compete for commits. */
const PARALLEL = 4;

playVersions<RegistryCalls>(
  {
    scenario: 'ledgers of a registry',
    program: 'registry-worker',
    seeds: 1,
    expected: ['commits', 'releases', 'moves', 'commits of old after new', 'commits of new after old'],
  },
  playRegistry,
);

/**
 * Ledgers of the running versions allocate, release, move and rebalance owners in parallel, and some responses are lost.
 * Throws unless each version lists the same owners, each owner keeps its key, and no key has two owners.
 */
async function playRegistry(play: Play<RegistryCalls>): Promise<void> {
  const { name: table, phases, clients, add, random, pick, worker, restart } = play;
  await createKeyedTable(clients.dynamodb, table, 'id');
  const input = { table, seed: Math.floor(random() * 1e9) };
  /** The key of each owner, if the owner has one. */
  const keys = new Map<string, bigint>();
  let previous: Version | undefined;

  for (const versions of phases) {
    for (let turn = 0; turn < TURNS; turn++) {
      // Each call of a turn has its own owners. So the parallel calls have the same result in each order.
      const shuffled = OWNERS.map((owner) => ({ owner, at: random() })).sort((a, b) => a.at - b.at);
      const groups = Array.from({ length: PARALLEL }, (_, group) =>
        shuffled.slice(3 * group, 3 * group + 3).map(({ owner }) => owner),
      );
      await Promise.all(groups.map((owners) => change(versions, owners)));
      await checkOwners(versions);
    }
    if (random() < 0.5) await rebalance(versions);
    await restart();
  }
  const head = await (await worker('new')).call('head', { table });
  add('commits', head!.version);

  async function change(versions: readonly Version[], owners: readonly string[]): Promise<void> {
    const version = pick(versions);
    if (previous !== undefined && previous !== version) add(`commits of ${version} after ${previous}`);
    previous = version;
    const kind = random();
    const weights = owners.map(() => pick([undefined, 1, 2.5]));
    // Drawn before the first wait, so that the speed of the parallel calls does not change the random numbers.
    const toHashKey = BigInt(Math.floor(random() * 1e15));
    const ledger = await worker(version);
    if (kind < 0.65) {
      const requests = owners.map((owner, index) => ({ owner, ...(weights[index] && { weight: weights[index] }) }));
      const allocated = await ledger.call('allocate', { ...input, owners: requests, ranges: RANGES });
      for (const { owner, hashKey } of allocated) {
        if ((keys.get(owner) ?? hashKey) !== hashKey)
          throw new Error(`${owner} got a second key from the ${version} version`);
        keys.set(owner, hashKey);
      }
    } else if (kind < 0.85) {
      const released = await ledger.call('release', { ...input, owners: [...owners] });
      for (const [index, owner] of owners.entries()) {
        if (released[index]?.hashKey !== keys.get(owner)) throw new Error(`the release of ${owner} has another key`);
        keys.delete(owner);
        add('releases');
      }
    } else {
      const owner = owners.find((each) => keys.has(each));
      if (owner === undefined) return;
      const fromHashKey = keys.get(owner)!;
      await ledger.call('move', { ...input, move: { owner, fromHashKey, toHashKey } });
      keys.set(owner, toHashKey);
      add('moves');
    }
  }

  async function rebalance(versions: readonly Version[]): Promise<void> {
    const moves = await (await worker(pick(versions))).call('rebalance', { ...input, ranges: RANGES, mostMoves: 20 });
    for (const { owner, toHashKey } of moves) keys.set(owner, toHashKey);
    add('moves', moves.length);
    const perShard = RANGES.map(
      (_, shard) => [...keys.values()].filter((key) => shardIndexOf(key, RANGES) === shard).length,
    );
    if (Math.max(...perShard) > OWNERS.length / 2)
      throw new Error(`a shard has ${Math.max(...perShard)} owners after a rebalance`);
    await checkOwners(versions);
  }

  async function checkOwners(versions: readonly Version[]): Promise<void> {
    const texts = (owners: readonly HashKeyOwner[]) =>
      owners
        .map(({ owner, hashKey }) => `${owner} ${hashKey}`)
        .sort()
        .join('\n');
    const wanted = texts([...keys].map(([owner, hashKey]) => ({ owner, hashKey, weight: 1 })));
    const weights = new Set<string>();
    for (const version of versions) {
      const running = await worker(version);
      const listed = await running.call('list', input);
      const read = (await running.call('read', { table, owners: OWNERS })).flatMap((owner) => owner ?? []);
      for (const [how, owners] of Object.entries({ listed, read })) {
        if (texts(owners) !== wanted)
          throw new Error(`the ${version} version has ${how}\n${texts(owners)}\ninstead of\n${wanted}`);
        weights.add(JSON.stringify(owners.map(({ owner, weight }) => [owner, weight]).sort()));
      }
      if (new Set(listed.map(({ hashKey }) => hashKey)).size < listed.length) throw new Error('a key has two owners');
    }
    if (weights.size > 1) throw new Error(`the versions have different weights: ${[...weights].join('\n')}`);
  }
}
