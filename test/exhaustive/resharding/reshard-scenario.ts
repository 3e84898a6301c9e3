import type { HashKeyRange } from '../../../lib/core/foundation/hash-key-ranges';
import { planStreamReshard } from '../../../lib/core/resharding/plan-stream-reshard';
import type { ReshardClient } from '../../../lib/core/resharding/reshard-client';
import { ReshardSupersededError } from '../../../lib/core/resharding/reshard-errors';
import { advanceDeployment, reshardStream } from '../../../lib/core/resharding/reshard-stream';
import { areShardsEven } from '../../../lib/core/resharding/skew';
import { answerLost, serviceError } from '../../../lib/testing/service-error';
import type { Scenario } from '../explore';
import { Faults } from '../faults';
import type { Footprint, World } from '../world';
import { ReshardedStream } from './resharded-stream';

/** What a process makes of the stream. */
export interface ReshardWork {
  shardCount: number;
  /** When it began, if it is a deployment. The latest one decides. */
  startedAt?: number;
}

export interface ReshardBounds {
  /** The shards at the beginning. */
  ranges: readonly HashKeyRange[];
  /** What each process does, side by side. */
  work: readonly ReshardWork[];
  /** Whether others have used up the updates of the day. */
  updatesAreUsedUp?: boolean;
  /** How many requests fail, are throttled, or lose their answers. A process ends with such a request, and starts again. */
  faults: number;
}

/** The time of day in every run. */
export const NOW = Date.UTC(2026, 0, 2);

/** More looks than a process needs. */
const MOST_LOOKS = 30;

/** Processes take a stream to a shard count, end anywhere, and start again. */
export function reshardScenario(name: string, bounds: ReshardBounds): Scenario {
  return { name, play: (world) => play(world, bounds) };
}

async function play(world: World, { ranges, work, updatesAreUsedUp = false, faults }: ReshardBounds): Promise<void> {
  const stream = new ReshardedStream(world, ranges, NOW);
  if (updatesAreUsedUp) await stream.useUpUpdates();
  const looks = new Looks(world, stream);
  const some = new Faults(world, faults);
  await world.until(
    Promise.all(work.map((each, number) => new Process(world, some, stream, looks, `process ${number + 1}`).run(each))),
  );
  await world.untilNothingIsLeft();
  const [last, ...others] = work.toSorted((a, b) => (b.startedAt ?? 0) - (a.startedAt ?? 0));
  const { openRanges, changes, fewest } = stream;
  const isThere = openRanges.length === last!.shardCount && areShardsEven(openRanges);
  promise(isThere, 'the stream has the count of the last deployment');
  const counts = work.map(({ shardCount }) => shardCount);
  promise(fewest >= Math.min(ranges.length, ...counts), 'the stream has no fewer shards on the way');
  if (others.length > 0) return;
  const plan = planStreamReshard(ranges, last!.shardCount, updatesAreUsedUp ? { updatesLeft: 0 } : {});
  promise(changes <= plan.length, 'no change is made twice');
}

/**
 * When processes look at the stream. A look takes less time than the wait between two looks, so whoever falls asleep
 * during the look of another wakes behind it. To look again where nothing has changed shows nothing new.
 */
class Looks {
  private readonly current = new Map<string, number>();
  private readonly waiting = new Set<() => void>();
  private count = 0;

  constructor(
    private readonly world: World,
    private readonly stream: ReshardedStream,
  ) {
    stream.onChange = () => this.reconsider();
  }

  begin(process: string): void {
    this.current.set(process, ++this.count);
  }

  end(process: string): void {
    this.current.delete(process);
    this.reconsider();
  }

  /** The time from one look to the next. */
  async wait(process: string, seenVersion: number): Promise<void> {
    const footprint = { writes: [process, 'looks'] };
    await this.world.answer(`${process} sleeps ${++this.count}`, footprint);
    this.end(process);
    const others = [...this.current];
    await this.when(
      () => this.stream.version > seenVersion && others.every(([other, look]) => this.current.get(other) !== look),
    );
    await this.world.answer(`${process} wakes ${++this.count}`, footprint);
    this.begin(process);
  }

  private when(isSo: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      const look = (): void => {
        if (!isSo()) return;
        this.waiting.delete(look);
        resolve();
      };
      this.waiting.add(look);
      look();
    });
  }

  private reconsider(): void {
    for (const look of [...this.waiting]) look();
  }
}

class Process {
  private requests = 0;
  private looks = 0;
  /** What of the stream the last look can have seen. Less, if a request to change it was throttled. */
  private seenVersion = 0;

  constructor(
    private readonly world: World,
    private readonly faults: Faults,
    private readonly stream: ReshardedStream,
    private readonly schedule: Looks,
    private readonly name: string,
  ) {}

  async run(work: ReshardWork): Promise<void> {
    for (;;) {
      this.schedule.begin(this.name);
      try {
        return await this.work(work);
      } catch (error) {
        if (error instanceof ReshardSupersededError) return;
        const isExpected = (error as Error).message === 'scripted' || (error as Error).name === 'TimeoutError';
        if (!isExpected) throw error;
      } finally {
        this.schedule.end(this.name);
      }
      await this.world.answer(`${this.name} starts again ${++this.requests}`, { writes: [this.name, 'looks'] });
    }
  }

  private async work({ shardCount, startedAt }: ReshardWork): Promise<void> {
    const target = { streamName: 'Events', shardCount };
    const sleep = (): Promise<void> => this.schedule.wait(this.name, this.seenVersion);
    if (startedAt === undefined) {
      const clock = { now: () => NOW, schedule: () => () => {}, sleep };
      await reshardStream(this.client, target, { clock, timeOfDay: () => NOW });
      return;
    }
    const onTagFailure = (): void => {};
    for (;;) {
      const { state } = await advanceDeployment(this.client, target, NOW, { startedAt, onTagFailure });
      if (state === 'even') return;
      await sleep();
    }
  }

  private get client(): ReshardClient {
    const read = (operation: Parameters<ReshardedStream['read']>[0]) => (input: object) =>
      this.request(operation, { reads: ['stream'], writes: [this.name] }, () =>
        this.stream.read(operation, input as never),
      );
    const write = (operation: Parameters<ReshardedStream['write']>[0]) => (input: object) =>
      this.request(operation, { writes: [this.name, 'stream'] }, () => this.stream.write(operation, input as never), {
        isWrite: true,
      });
    return {
      describeStreamSummary: (input) => {
        this.looks += 1;
        promise(this.looks <= MOST_LOOKS, 'resharding comes to an end');
        this.seenVersion = this.stream.version;
        return read('describeStreamSummary')(input);
      },
      listShards: read('listShards'),
      listTagsForStream: read('listTagsForStream'),
      addTagsToStream: write('addTagsToStream'),
      updateShardCount: write('updateShardCount'),
      splitShard: write('splitShard'),
      mergeShards: write('mergeShards'),
    } as ReshardClient;
  }

  /** A request is applied at some moment. It may fail before that or behind it. */
  private request(
    operation: string,
    footprint: Footprint,
    apply: () => Promise<unknown>,
    { isWrite = false } = {},
  ): Promise<unknown> {
    const name = `${this.name}: ${operation} ${++this.requests}`;
    return new Promise((resolve, reject) => {
      let offers: (() => void)[] = [];
      const once = (happen: () => void) => () => {
        for (const takeBack of offers) takeBack();
        happen();
      };
      offers = [
        this.world.offer(
          name,
          footprint,
          once(() => apply().then(resolve, reject)),
        ),
        this.faults.offer(
          `${name} fails`,
          footprint,
          once(() => reject(new Error('scripted'))),
        ),
      ];
      if (!isWrite) return;
      const throttle = (): void => {
        this.seenVersion = -1;
        reject(serviceError('LimitExceededException', 'Rate exceeded'));
      };
      const lose = (): void => void apply().then(() => reject(answerLost()), reject);
      offers.push(this.faults.offer(`${name} is throttled`, footprint, once(throttle)));
      offers.push(this.faults.offer(`${name}, and its answer is lost`, footprint, once(lose)));
    });
  }
}

function promise(isKept: boolean, words: string): void {
  if (!isKept) throw new Error(words);
}
