import { readFileSync } from 'node:fs';
import type { RepositoryEvent } from '../../examples/repository-outbox/repositories';
import { RepositoryCache } from '../../examples/repository-outbox/repository-cache';
import { OrderedProducer } from '../../lib/core';
import { systemClock } from '../../lib/core/kernel/clock';
import { FakeKinesis } from '../../lib/testing/fake-kinesis';
import type { VirtualClock } from '../../lib/testing/virtual-clock';
import { story } from '../../scripts/story/history';

/**
 * Tests "Partition Key Selection" of "Guaranteeing Order with Kinesis Bulk Puts": whether the cache of a consumer is
 * correct depends on the partition key. The events are the events of `npm start`.
 */

const { events, repositories, correct, faultOf } = story();

/** The cache of a consumer that reads one shard after the other. Kinesis promises no order between shards. */
async function cacheBehind(keyOf: (event: RepositoryEvent) => string, shardCount = 4): Promise<RepositoryCache> {
  const kinesis = new FakeKinesis({ clock: systemClock as unknown as VirtualClock, shardCount });
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

const byHash = ({ commit, repository }: RepositoryEvent) => commit ?? repository;

/** The repositories whose commits in the cache are wrong. */
const wrongIn = (cache: RepositoryCache) =>
  repositories.filter((repository) => faultOf(repository, cache.commitsOf(repository)) !== undefined);

describe('a cache of repositories and their commits', () => {
  test.each([1, 2, 4, 9])(
    'the cache is correct on %d shards if the partition key of each commit is the key of its repository',
    async (shardCount) => {
      const cache = await cacheBehind(({ repository }) => repository, shardCount);
      expect(wrongIn(cache)).toEqual([]);
      expect(cache.names()).toEqual([...correct.keys()]);
      expect(cache.commitsOfNone).toEqual([]);
    },
  );

  test('the cache receives commits of unknown repositories if the partition key of each commit is the hash of the commit', async () => {
    expect((await cacheBehind(byHash)).commitsOfNone.length).toBeGreaterThan(0);
  });

  test('the cache keeps destroyed repositories if the create and destroy events have different partition keys', async () => {
    const cache = await cacheBehind((event) => `${event.action} ${byHash(event)}`);
    expect(cache.names().length).toBeGreaterThan(correct.size);
  });
});

describe('the events of npm start', () => {
  test('each line of the sample has only a numbered repository, a hash and a time', () => {
    const lines = readFileSync('examples/repository-outbox/commits.ndjson', 'utf8').trim().split('\n');
    const line =
      /^\{"repository":"org-\d\d\/repo-\d","commit":"[0-9a-f]{16}","committedAt":"2024-\d\d-\d\dT[\d:.]{12}Z"\}$/;
    expect(lines.filter((each) => !line.test(each))).toEqual([]);
    expect(lines).toHaveLength(182);
  });

  test('one repository is destroyed and created again, and another repository is destroyed', () => {
    const actions = (repository: string) =>
      events
        .filter((event) => event.repository === repository && event.action !== 'commit')
        .map(({ action }) => action);
    expect(actions('org-02/repo-2')).toEqual(['create', 'destroy', 'create']);
    expect(repositories.filter((repository) => !correct.has(repository))).toEqual(['org-02/repo-1']);
    expect(actions('org-02/repo-1')).toEqual(['create', 'destroy']);
  });

  test.each([
    ['a destroyed repository in the cache', 'org-02/repo-1', ['a'], 'the repository is destroyed'],
    ['an existing repository that is not in the cache', 'org-01/repo-1', undefined, 'the repository exists'],
    ['no commits', 'org-01/repo-1', [], '24 missing'],
    [
      'a commit of another life',
      'org-08/repo-1',
      ['a', ...correct.get('org-08/repo-1')!],
      '1 from before the repository was destroyed',
    ],
    ['another order', 'org-08/repo-1', [...correct.get('org-08/repo-1')!].reverse(), 'in another order'],
    ['the correct commits', 'org-08/repo-1', correct.get('org-08/repo-1')!, undefined],
    ['a destroyed repository that is not in the cache', 'org-02/repo-1', undefined, undefined],
  ])('faultOf names the fault of %s', (_, repository, cached, fault) => {
    expect(faultOf(repository, cached)).toBe(fault);
  });
});
