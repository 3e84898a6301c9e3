import type { ReshardClient } from '../../../../lib/core/resharding/reshard-client';
import { parseUpdateHistory, UPDATE_HISTORY_TAG } from '../../../../lib/core/resharding/update-history';
import type { HashKeyRange } from '../../../../lib/core/stream-format/hash-key-ranges';
import { FakeControlPlane } from '../../../../lib/testing/fake-control-plane';
import type { VirtualClock } from '../../../../lib/testing/virtual-clock';
import type { World } from '../world';

const UPDATES_OF_A_DAY = 10;

/** A stream that applies a request immediately. Each split and each merge of an update is a step that the test can delay. */
export class ReshardedStream {
  /** Increases with every change that a read of the stream can see. */
  version = 0;
  /** The number of requests that have changed the shards or will change them. */
  changes = 0;
  /** The smallest number of shards that were open at one time. */
  fewest: number;
  /** Called with each new version. */
  onChange = (): void => {};
  private readonly kinesis: FakeControlPlane;
  private updates = 0;
  private isPast = false;
  /** The last request to the stream. */
  private inFlight: unknown;

  constructor(
    private readonly world: World,
    ranges: readonly HashKeyRange[],
    private readonly nowMs: number,
  ) {
    const clock = { now: () => nowMs, schedule: (goOn: () => void) => this.schedule(goOn) };
    this.kinesis = new FakeControlPlane({ clock: clock as unknown as VirtualClock, ranges, roundTripMs: () => 0 });
    this.fewest = ranges.length;
  }

  get openRanges(): HashKeyRange[] {
    return this.kinesis.openShards.map(({ range }) => range);
  }

  /** The state of the stream. */
  get state(): unknown {
    const { status, shards, tags } = this.kinesis;
    const described = shards.map((shard) => shard.describe());
    return [described, status, tags, this.inFlight, this.updates, this.changes, this.fewest];
  }

  /** Uses up the updates of the day, as other tools could do. The shards stay the same. */
  async useUpUpdates(): Promise<void> {
    this.isPast = true;
    const count = this.openRanges.length;
    for (let update = 0; update < UPDATES_OF_A_DAY; update++) {
      const TargetShardCount = update % 2 === 0 ? count + 1 : count;
      await this.kinesis.updateShardCount({ StreamName: 'Events', TargetShardCount, ScalingType: 'UNIFORM_SCALING' });
    }
    this.isPast = false;
  }

  async read(operation: 'describeStreamSummary' | 'listShards' | 'listTagsForStream', input: never): Promise<unknown> {
    return (this.kinesis as ReshardClient)[operation](input);
  }

  async write(
    operation: 'addTagsToStream' | 'updateShardCount' | 'splitShard' | 'mergeShards',
    input: never,
  ): Promise<unknown> {
    const answer = await (this.kinesis as ReshardClient)[operation](input);
    if (operation !== 'addTagsToStream') {
      this.changes += 1;
      this.inFlight = [operation, input];
    }
    if (operation === 'updateShardCount') {
      this.updates += 1;
      const history = parseUpdateHistory(this.kinesis.tags.get(UPDATE_HISTORY_TAG), this.nowMs);
      if (history.length < this.updates) throw new Error('the history of the stream contains each of its updates');
    }
    this.changed();
    return answer;
  }

  private schedule(goOn: () => void): () => void {
    if (!this.isPast) {
      return this.world.offer('the stream continues', { writes: ['stream'] }, () => {
        goOn();
        this.fewest = Math.min(this.fewest, this.kinesis.openShards.length);
        this.changed();
      });
    }
    goOn();
    return () => {};
  }

  private changed(): void {
    this.version += 1;
    this.onChange();
  }
}
