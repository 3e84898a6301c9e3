import { existsSync, readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import type { RepositoryEvent } from '../../examples/repository-outbox/repositories';
import { RepositoryCache } from '../../examples/repository-outbox/repository-cache';
import { OrderedProducer } from '../../lib/core';
import { systemClock } from '../../lib/core/kernel/clock';
import { FakeKinesis } from '../../lib/testing/fake-kinesis';
import type { VirtualClock } from '../../lib/testing/virtual-clock';

/**
 * Tests "Partition Key Selection" of "Guaranteeing Order with Kinesis Bulk Puts": whether the cache of a consumer is
 * correct depends on the partition key.
 */

const SHARDS = 4;
const COMMITS = '../shared/data/commits.ndjson.gz';

/**
 * The events of repositories. Each repository is created and receives commits, and every third repository is destroyed
 * at the end.
 */
function eventsOf(commits: readonly { repository: string; commit: string }[]): RepositoryEvent[] {
  const names = [...new Set(commits.map(({ repository }) => repository))];
  const event = (action: 'create' | 'destroy') => (repository: string) => ({ action, repository });
  return [
    ...names.map(event('create')),
    ...commits.map(({ repository, commit }) => ({ action: 'commit' as const, repository, commit })),
    ...names.filter((_, n) => n % 3 === 0).map(event('destroy')),
  ];
}

/** The cache of a consumer that reads one shard after the other. Kinesis promises no order between shards. */
async function cacheBehind(
  events: readonly RepositoryEvent[],
  keyOf: (event: RepositoryEvent) => string,
): Promise<RepositoryCache> {
  const kinesis = new FakeKinesis({ clock: systemClock as unknown as VirtualClock, shardCount: SHARDS });
  const producer = new OrderedProducer(kinesis, { streamName: 'Events' });
  await producer.putAll(
    events.map((event) => ({ partitionKey: keyOf(event), data: Buffer.from(JSON.stringify(event)) })),
  );
  await producer.close();
  const cache = new RepositoryCache();
  for (const shardId of [...new Set(kinesis.records().map((record) => record.shardId))].sort()) {
    for (const { data } of kinesis.records().filter((record) => record.shardId === shardId)) {
      cache.apply(JSON.parse(Buffer.from(data).toString()));
    }
  }
  return cache;
}

const byRepository = ({ repository }: RepositoryEvent) => repository;
const byHash = ({ commit, repository }: RepositoryEvent) => commit ?? repository;
const byEvent = (event: RepositoryEvent) => `${event.action} ${byHash(event)}`;

/** The cache of a consumer that receives all events in order. */
function rightCache(events: readonly RepositoryEvent[]): RepositoryCache {
  const cache = new RepositoryCache();
  for (const event of events) cache.apply(event);
  return cache;
}

const generated = Array.from({ length: 600 }, (_, n) => ({
  repository: `account-${n % 5}/project-${n % 30}`,
  commit: `c0ab1e5c${n.toString(16).padStart(4, '0')}`,
}));

describe('a cache of repositories and their commits', () => {
  const events = eventsOf(generated);

  test('the cache is correct if the partition key of each commit is the key of its repository', async () => {
    const [cache, right] = [await cacheBehind(events, byRepository), rightCache(events)];
    expect(cache.names()).toEqual(right.names());
    for (const name of right.names()) expect(cache.commitsOf(name)).toEqual(right.commitsOf(name));
    expect(cache.commitsOfNone).toEqual([]);
  });

  test('the cache receives commits of unknown repositories if the partition key of each commit is the hash of the commit', async () => {
    expect((await cacheBehind(events, byHash)).commitsOfNone.length).toBeGreaterThan(0);
  });

  test('the cache keeps destroyed repositories if the create and destroy events have different partition keys', async () => {
    const right = rightCache(events);
    expect((await cacheBehind(events, byEvent)).names().length).toBeGreaterThan(right.names().length);
  });

  (existsSync(COMMITS) ? test : test.skip)(
    `is correct after a sample of real commits${existsSync(COMMITS) ? '' : ' (skipped: the sample of commits is not there)'}`,
    async () => {
      const lines = gunzipSync(readFileSync(COMMITS))
        .toString()
        .trim()
        .split('\n')
        .filter((_, n) => n % 40 === 0);
      const real = eventsOf(lines.map((line) => JSON.parse(line)));
      const [cache, right] = [await cacheBehind(real, byRepository), rightCache(real)];
      expect(cache.names()).toEqual(right.names());
      expect(cache.commitsOfNone).toEqual([]);
      for (const name of right.names()) expect(cache.commitsOf(name)).toEqual(right.commitsOf(name));
    },
    60_000,
  );
});
