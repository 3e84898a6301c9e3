import { readFileSync } from 'node:fs';
import { App } from 'aws-cdk-lib';
import { type LocalStack, startLocal } from '../../bin/local/run-local';
import { JobStatesStack } from '../../examples/job-states/job-states-stack';
import { type Job, Jobs, type JobsRequest } from '../../examples/job-states/jobs';
import type { ShardedIndexConfig } from '../../lib/core';
import { allPages } from '../support/all-pages';

/** Tests "GSI Sharding in DynamoDB" in the stack of the example. */
describe('examples/job-states', () => {
  const SHARES = { succeeded: 70, ignored: 20, pending: 10 };
  const minute = (number: number) => new Date(Date.UTC(2020, 0, 1, 0, number)).toISOString();
  /**
   * A thousand jobs. The three states have 70, 20 and 10 percent of the jobs. Job 0 is created first and updated last.
   */
  const JOBS = Array.from({ length: 1_000 }, (_, number): Job => {
    const status = number % 10 < 7 ? 'succeeded' : number % 10 < 9 ? 'ignored' : 'pending';
    const job_id = `job-${String(number).padStart(4, '0')}`;
    return { job_id, status, create_time: minute(number), update_time: minute(3_000 - number) };
  });
  let stack: LocalStack;
  let jobs: Jobs;
  let indexes: Record<string, ShardedIndexConfig>;

  beforeAll(async () => {
    const app = new App();
    new JobStatesStack(app, 'Example', { shares: SHARES, shards: 100 });
    stack = await startLocal({ app: app.synth().directory });
    const { environment } = stack.functions.find(({ path }) => path === 'Example/Query/Function')!;
    indexes = JSON.parse(environment.EVEN_SHARDS_INDEXES!);
    jobs = new Jobs(stack.clients.dynamodb, indexes.byCreation!, indexes.byUpdate!);
    for (let from = 0; from < JOBS.length; from += 50) {
      await Promise.all(JOBS.slice(from, from + 50).map((job) => jobs.create(job)));
    }
  }, 60_000);
  afterAll(() => stack?.stop());

  async function all(read: 'created' | 'updated', request: Omit<JobsRequest, 'cursor'>): Promise<string[]> {
    const pages = await allPages((cursor) => jobs[read]({ ...request, cursor }));
    return pages.flatMap((page) => page.jobs.map(({ job_id }) => job_id));
  }

  const idsOf = (found: readonly Job[]) => found.map(({ job_id }) => job_id);

  test('a state with 70 percent of the jobs has 70 of the 100 shards, and no shard holds more than three times the mean number of jobs in a shard of its state', async () => {
    const { Items = [] } = await stack.clients.dynamodb.scan({ TableName: stack.tables[0]!.name });
    const held = new Map<string, number>();
    for (const { statusShard } of Items) held.set(statusShard!.S!, (held.get(statusShard!.S!) ?? 0) + 1);
    for (const [state, share] of Object.entries(SHARES)) {
      const numbers = [...held.keys()].filter((shard) => shard.startsWith(`${state}#`)).map((key) => key.split('#')[1]);
      expect(numbers.map(Number).filter((number) => number < 1 || number > share)).toEqual([]);
      expect(numbers.length).toBeGreaterThan(share / 2);
    }
    expect(Items).toHaveLength(1_000);
    expect(Math.max(...held.values())).toBeLessThanOrEqual(30);
    expect(indexes.byCreation!.shards.byValue).toMatchObject({
      succeeded: { write: 70, read: 70 },
      ignored: { write: 20, read: 20 },
      pending: { write: 10, read: 10 },
    });
  });

  test('queries of both indexes return the jobs of a state within a time range, in the order of creation or of update', async () => {
    const succeeded = JOBS.filter(({ status }) => status === 'succeeded');
    const created = { states: ['succeeded'], from: minute(100), to: minute(399) };
    const expected = idsOf(succeeded.filter((_, index) => index >= 70 && index < 280));
    expect(await all('created', created)).toEqual(expected);
    const updated = { states: ['succeeded'], from: minute(2_601), to: minute(2_900) };
    expect(await all('updated', updated)).toEqual(expected.toReversed());
  });

  test('a query of several states returns the jobs in one order', async () => {
    const request = { states: Object.keys(SHARES), from: minute(0), to: minute(249) };
    expect(await all('created', request)).toEqual(idsOf(JOBS.slice(0, 250)));
  });

  test('a job with a new state is found only by its new state, in both indexes', async () => {
    const pending = JOBS.find(({ status }) => status === 'pending')!;
    await jobs.advance(pending.job_id, 'succeeded', minute(4_000));
    const created = { from: minute(0), to: minute(20) };
    const updated = { from: minute(2_900), to: minute(9_999) };
    expect(await all('created', { states: ['pending'], ...created })).toEqual(['job-0019']);
    expect(await all('updated', { states: ['pending'], ...updated })).not.toContain(pending.job_id);
    expect(await all('created', { states: ['succeeded'], ...created })).toContain(pending.job_id);
    expect((await all('updated', { states: ['succeeded'], ...updated })).at(-1)).toBe(pending.job_id);
  });
});

test('examples/job-states/how-many-shards.ts prints the text of its README', () => {
  const log = jest.spyOn(console, 'log').mockImplementation();
  jest.requireActual('../../examples/job-states/how-many-shards');
  const [[printed]] = log.mock.calls as [[string]];
  log.mockRestore();
  expect(readFileSync('examples/job-states/README.md', 'utf8')).toContain(printed);
  expect(printed).toContain('70% x 1.5 = 105%');
  expect(printed).toMatch(/^ +10 .* 36\.4% +274$/m);
});
