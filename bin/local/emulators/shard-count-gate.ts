import { setTimeout as sleep } from 'node:timers/promises';
import { listOpenShards } from '../../../lib/core/resharding/open-shards';
import { scalingRefusal, uniformScaling } from '../../../lib/testing/uniform-scaling';
import { type Call, type Forward, refusal, type ServiceAnswer, type ServiceCall } from './gated-service';

/** The operations that the gate handles. */
export const GATED_BY_SHARD_COUNT: ReadonlySet<string> = new Set([
  ...['UpdateShardCount', 'SplitShard', 'MergeShards', 'DescribeStream', 'DescribeStreamSummary'],
  // The data of the records in CBOR must be bytes, so the server must decode and encode the response.
  'GetRecords',
]);

const SHARD_QUOTA = 10_000;
const POLL_MS = 2;
const MAX_TRIES = 5_000;
const ID = 'shardId-';

/**
 * Lets kinesis-local scale a stream to equal shards. kinesis-local itself only halves some shards, and accepts an
 * update of three shards to one.
 */
export class ShardCountGate {
  /** The streams whose steps have not ended. */
  private readonly scaling = new Set<string>();
  private readonly updatedAtMs = new Map<string, number[]>();

  constructor(private readonly call: Call) {}

  readonly pass = async ({ operation, input }: ServiceCall, forward: Forward): Promise<ServiceAnswer> => {
    const name: string = input.StreamName ?? String(input.StreamARN).split(':stream/')[1] ?? '';
    if (operation === 'UpdateShardCount') return this.update(name, input);
    if (!this.scaling.has(name)) return forward(input);
    if (operation.endsWith('Shard') || operation.endsWith('Shards')) return inUse(name, 'UPDATING');
    const answer = await forward(input);
    const [field] = Object.keys(answer.output);
    if (answer.status !== 200 || operation === 'GetRecords') return answer;
    return { ...answer, output: { [field!]: { ...answer.output[field!], StreamStatus: 'UPDATING' } } };
  };

  private async update(name: string, input: ServiceCall['input']): Promise<ServiceAnswer> {
    const { TargetShardCount: target, ScalingType } = input;
    const described = await this.call('DescribeStreamSummary', { StreamName: name });
    if (described.status !== 200) return described;
    const { StreamARN, StreamStatus, StreamModeDetails, OpenShardCount } = described.output.StreamDescriptionSummary;
    if (!Number.isInteger(target) || ScalingType !== 'UNIFORM_SCALING') {
      return refusal('ValidationException', 'TargetShardCount must be an integer, and ScalingType UNIFORM_SCALING');
    }
    if (StreamModeDetails.StreamMode === 'ON_DEMAND') {
      return refusal('ValidationException', 'the shard count of an on-demand stream cannot be updated');
    }
    if (this.scaling.has(name) || StreamStatus !== 'ACTIVE') return inUse(name, StreamStatus);
    const updatedAtMs = this.updatedAtMs.get(StreamARN) ?? [];
    const [current, nowMs] = [OpenShardCount, performance.now()];
    const refused = scalingRefusal({ current, target, shardQuota: SHARD_QUOTA, updatedAtMs, nowMs });
    if (refused !== undefined) return refusal(...refused);
    this.updatedAtMs.set(StreamARN, [...updatedAtMs, nowMs]);
    this.scaling.add(name);
    void this.scale(name, target).finally(() => this.scaling.delete(name));
    const counts = { CurrentShardCount: current, TargetShardCount: target };
    return { status: 200, output: { StreamName: name, StreamARN, ...counts } };
  }

  private async scale(StreamName: string, target: number): Promise<void> {
    const open = await this.open(StreamName);
    const ids = open.map(({ shardId }) => shardId);
    // The newest shard is open, and the next shard has the next number.
    let newest = Math.max(...ids.map((id) => Number(id.slice(ID.length))));
    const child = () => {
      newest += 1;
      return `${ID}${String(newest).padStart(12, '0')}`;
    };
    for (const { index, newStartingHashKey } of uniformScaling(open, target)) {
      const [shard, next] = ids.slice(index);
      const done = await (newStartingHashKey === undefined
        ? this.insist('MergeShards', { StreamName, ShardToMerge: shard, AdjacentShardToMerge: next })
        : this.insist('SplitShard', { StreamName, ShardToSplit: shard, NewStartingHashKey: `${newStartingHashKey}` }));
      // A user has deleted the stream before the last step.
      if (done.status !== 200) return;
      if (newStartingHashKey === undefined) ids.splice(index, 2, child());
      else ids.splice(index, 1, child(), child());
    }
    const status = async (): Promise<string | undefined> =>
      (await this.insist('DescribeStreamSummary', { StreamName })).output.StreamDescriptionSummary?.StreamStatus;
    while ((await status()) === 'UPDATING') await sleep(POLL_MS);
  }

  /**
   * Repeats a request while the earlier step is still running, or while kinesis-local has too many requests at a time.
   */
  private async insist(operation: string, input: unknown): Promise<ServiceAnswer> {
    for (let tries = 1; ; tries += 1) {
      const answer = await this.call(operation, input);
      if (tries === MAX_TRIES || !/(LimitExceeded|ResourceInUse)Exception$/.test(answer.output.__type)) return answer;
      await sleep(POLL_MS);
    }
  }

  private open(name: string) {
    const listShards = async (input: unknown) => (await this.call('ListShards', input)).output;
    return listOpenShards({ listShards }, name);
  }
}

function inUse(name: string, status: string): ServiceAnswer {
  return refusal('ResourceInUseException', `Stream ${name} not ACTIVE, instead in state ${status}`);
}
