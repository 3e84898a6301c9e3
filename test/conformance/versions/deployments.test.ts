import { setTimeout as sleep } from 'node:timers/promises';
import { waitUntilActive } from '../../support/active-stream';
import type { Invocation } from '../../support/lambda-function';
import { type Play, playVersions } from './play-versions';
import type { Version } from './version-worker';

const SHARD_COUNTS = [5, 2, 3, 6, 4];
const POLL_MS = 100;

playVersions(
  {
    scenario: 'deployments of functions that continue their work',
    seeds: 1,
    expected: ['polls', 'poll old to new', 'poll new to old', 'superseded'],
  },
  playDeployments,
);

interface Reshard {
  readonly IsComplete: boolean;
  readonly PhysicalResourceId: string;
  readonly StartedAt: number;
  readonly Data?: { OpenShardCount: number; Skew: number };
}

/**
 * The provider of a stream's shard count changes its version during its work. Throws unless each version continues an update of the
 * other version, and respects its tags.
 */
async function playDeployments(play: Play<never>): Promise<void> {
  const { name, phases, clients, add, exchanges, pick, lambda, restart } = play;
  const { kinesis } = clients;
  await kinesis.createStream({ StreamName: name, ShardCount: 1 });
  await waitUntilActive(kinesis, name);

  for (const [phase, versions] of phases.entries()) {
    const next = phases[phase + 1] ?? versions;
    await update(SHARD_COUNTS[phase]!, versions, next);
    await restart();
  }

  async function invoke<T>(version: Version, bundle: string, event: object): Promise<T> {
    const { response, error, log } = await invocation(version, bundle, event);
    if (error !== undefined)
      throw new Error(`the ${bundle} of the ${version} version failed: ${error.message}\n${log}`);
    return JSON.parse(response!) as T;
  }

  async function invocation(version: Version, bundle: string, event: object): Promise<Invocation> {
    const running = await lambda(version, bundle, {});
    return running.invoke(event, 30_000);
  }

  /** An update of the custom resource begins with a version of this phase, and a version of the next phase continues it. */
  async function update(shardCount: number, versions: readonly Version[], next: readonly Version[]): Promise<void> {
    const request = {
      RequestType: 'Update',
      StackId: 'stack',
      PhysicalResourceId: name,
      ResourceProperties: { StreamName: name, ShardCount: String(shardCount) },
    };
    const count = exchanges('poll');
    const beginner = pick(versions);
    count(beginner);
    const first = await invoke<Reshard>(beginner, 'stream-resharder', request);
    // The earlier update has another count, so the provider of the other version stops it.
    const stale = {
      ...request,
      ResourceProperties: { StreamName: name, ShardCount: '9' },
      StartedAt: first.StartedAt - 1,
    };
    const { error } = await untilMarked(() => invocation(pick(next), 'stream-resharder', stale));
    if (error?.code !== 'RESHARD_SUPERSEDED') throw new Error(`an earlier update ended with ${error?.code}`);
    add('superseded');
    for (let response = first; !response.IsComplete; await sleep(POLL_MS)) {
      const version = pick([...versions, ...next]);
      count(version);
      // The framework adds the first response to each later event.
      response = await invoke<Reshard>(version, 'stream-resharder', { ...request, ...first });
      add('polls');
      if (response.StartedAt !== first.StartedAt) throw new Error('the time of the start has changed');
      if (response.IsComplete && response.Data?.OpenShardCount !== shardCount)
        throw new Error(`the stream has ${response.Data?.OpenShardCount} shards instead of ${shardCount}`);
    }
  }

  /** While the stream is busy, a response contains no error. */
  async function untilMarked(call: () => Promise<Invocation>): Promise<Invocation> {
    for (let left = 50; ; left--) {
      const result = await call();
      if (result.error !== undefined || left === 0) return result;
      await sleep(POLL_MS);
    }
  }
}
