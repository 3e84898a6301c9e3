import { type Clock, systemClock } from '../../../../lib/core/kernel/clock';
import { planStreamReshard } from '../../../../lib/core/resharding/plan-stream-reshard';
import type { ReshardClient } from '../../../../lib/core/resharding/reshard-client';
import { ReshardSupersededError } from '../../../../lib/core/resharding/reshard-errors';
import { advanceDeployment, reshardStream } from '../../../../lib/core/resharding/reshard-stream';
import { areShardsEven } from '../../../../lib/core/resharding/skew';
import type { HashKeyRange } from '../../../../lib/core/stream-format/hash-key-ranges';
import { responseLost, serviceError } from '../../../../lib/testing/service-error';
import type { Scenario } from '../explore';
import { Faults } from '../faults';
import { ProcessInputs, stateText } from '../process-inputs';
import { promise } from '../promise';
import type { Footprint, World } from '../world';
import { ReshardedStream } from './resharded-stream';

/** The shard count that a process wants for the stream. */
interface ReshardWork {
  shardCount: number;
  /** The start time of a deployment. The stream must get the count of the latest deployment. */
  startedAt?: number;
}

export interface ReshardBounds {
  /** The shards at the beginning. */
  ranges: readonly HashKeyRange[];
  /** The targets of the processes, which run in parallel. */
  work: readonly ReshardWork[];
  /** Whether other tools have used up the updates of the day. */
  updatesAreUsedUp?: boolean;
  /**
   * The maximum number of requests that fail, are throttled, lose their responses, or arrive late but before the next read of their
   * process. After such a request, the process crashes and restarts.
   */
  faults: number;
}

/** The time of day in every run. */
export const NOW = Date.UTC(2026, 0, 2);

/** Any step can start or end a read of the stream, or change data that a read has missed. So no two steps commute. */
const EVERYTHING: Footprint = { writes: ['*'] };

/** The maximum number of reads of a process. A correct process needs fewer reads. */
const MAX_LOOKS = 30;

/** Processes reshard a stream to a shard count, crash at any moment, and restart. */
export function reshardScenario(name: string, bounds: ReshardBounds): Scenario {
  return { name, play: (world) => play(world, bounds) };
}

async function play(world: World, { ranges, work, updatesAreUsedUp = false, faults }: ReshardBounds): Promise<void> {
  const stream = new ReshardedStream(world, ranges, NOW);
  if (updatesAreUsedUp) await stream.useUpUpdates();
  const looks = new Looks(world, stream);
  const some = new Faults(world, faults);
  const processes = work.map((_, number) => new Process(world, some, stream, looks, `process ${number + 1}`));
  world.setState(() => stateText([processes.map(({ state }) => state), some.rest, stream.state, looks.state]));
  await world.until(Promise.all(processes.map((process, number) => process.run(work[number]!))));
  await world.untilAllStepsAreTaken();
  const [last, ...others] = work.toSorted((a, b) => (b.startedAt ?? 0) - (a.startedAt ?? 0));
  const { openRanges, changes, fewest } = stream;
  const isThere = openRanges.length === last!.shardCount && areShardsEven(openRanges);
  promise(isThere, 'the stream has the count of the last deployment');
  const counts = work.map(({ shardCount }) => shardCount);
  promise(
    fewest >= Math.min(ranges.length, ...counts),
    'the stream never has fewer shards than the smallest of its counts',
  );
  if (others.length > 0) return;
  const plan = planStreamReshard(ranges, last!.shardCount, updatesAreUsedUp ? { updatesLeft: 0 } : {});
  promise(changes <= plan.length, 'no change is made twice');
}

/**
 * The times at which processes read the stream. A read takes less time than the wait between two reads. So a process that starts
 * to wait during the read of another process continues after that read. If the stream has not changed since the previous read, a
 * read shows nothing new.
 */
class Looks {
  private readonly looking = new Set<string>();
  private readonly asleep = new Map<string, { behind: Set<string>; seenVersion: number; wake: () => void }>();

  constructor(
    private readonly world: World,
    private readonly stream: ReshardedStream,
  ) {
    stream.onChange = () => this.reconsider();
  }

  /**
   * The processes that read the stream now, and for each waiting process: the reads that it waits for, and whether the
   * stream has changed since its last read.
   */
  get state(): unknown {
    const asleep = [...this.asleep].map(([process, { behind, seenVersion }]) => [
      process,
      [...behind].sort(),
      this.stream.version > seenVersion,
    ]);
    return [[...this.looking].sort(), asleep.sort()];
  }

  begin(process: string): void {
    this.looking.add(process);
  }

  end(process: string): void {
    this.looking.delete(process);
    for (const { behind } of this.asleep.values()) behind.delete(process);
    this.reconsider();
  }

  /** Waits until the process may read the stream again. */
  async wait(process: string, seenVersion: number): Promise<void> {
    await this.world.answer(`${process} sleeps`, EVERYTHING);
    this.end(process);
    await new Promise<void>((wake) => {
      this.asleep.set(process, { behind: new Set(this.looking), seenVersion, wake });
      this.reconsider();
    });
    await this.world.answer(`${process} wakes`, EVERYTHING);
    this.begin(process);
  }

  private reconsider(): void {
    for (const [process, { behind, seenVersion, wake }] of this.asleep) {
      if (behind.size > 0 || this.stream.version <= seenVersion) continue;
      this.asleep.delete(process);
      wake();
    }
  }
}

class Process {
  private requests = 0;
  private looks = 0;
  private readonly inputs = new ProcessInputs();
  /** Requests that timed out and have not arrived. */
  private readonly late = new Set<() => void>();
  /** The version of the stream that the last read has seen, or an older version if a change was throttled. */
  private seenVersion = 0;

  constructor(
    private readonly world: World,
    private readonly faults: Faults,
    private readonly stream: ReshardedStream,
    private readonly schedule: Looks,
    private readonly name: string,
  ) {}

  /** The state of the process. Each read is a new call, so the inputs of the last call do not matter. */
  get state(): unknown {
    return [this.inputs.all(), this.requests, this.looks, this.stream.version > this.seenVersion];
  }

  async run(work: ReshardWork): Promise<void> {
    for (;;) {
      this.schedule.begin(this.name);
      try {
        return await this.work(work);
      } catch (error) {
        if (error instanceof ReshardSupersededError) return;
        const isExpected = (error as Error).message === 'scripted' || (error as Error).name === 'TimeoutError';
        const isRefusal = (error as Error).name.endsWith('Exception');
        promise(!isRefusal, 'changes by other processes do not fail a process');
        if (!isExpected) throw error;
      } finally {
        this.schedule.end(this.name);
      }
      await this.world.answer(`${this.name} starts again`, EVERYTHING);
      for (const neverArrives of this.late) neverArrives();
      this.late.clear();
    }
  }

  private async work({ shardCount, startedAt }: ReshardWork): Promise<void> {
    const target = { streamName: 'Events', shardCount };
    this.beginLook();
    if (startedAt === undefined) {
      const clock: Clock = { ...systemClock, sleep: () => this.sleep() };
      await reshardStream(this.client, target, { clock, timeOfDay: () => NOW });
      return;
    }
    const options = { startedAt, onTagFailure: (): void => {} };
    while ((await advanceDeployment(this.client, target, NOW, options)).state !== 'even') await this.sleep();
  }

  private async sleep(): Promise<void> {
    await this.schedule.wait(this.name, this.seenVersion);
    this.beginLook();
  }

  private beginLook(): void {
    this.requests = 0;
    this.inputs.remove(this.name);
  }

  private get client(): ReshardClient {
    const read = (operation: Parameters<ReshardedStream['read']>[0]) => (input: object) =>
      this.request(operation, () => this.stream.read(operation, input as never));
    const write = (operation: Parameters<ReshardedStream['write']>[0]) => (input: object) =>
      this.request(operation, () => this.stream.write(operation, input as never), { isWrite: true });
    return {
      describeStreamSummary: (input) => {
        this.looks += 1;
        promise(this.looks <= MAX_LOOKS, 'the number of reads of a resharding is limited');
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

  /** A request is applied at some moment. The request can fail before or after this moment. */
  private request(operation: string, apply: () => Promise<unknown>, { isWrite = false } = {}): Promise<unknown> {
    const name = `${this.name}: ${operation} ${++this.requests}`;
    return new Promise((resolve, reject) => {
      let offers: (() => void)[] = [];
      const once = (happen: () => void) => () => {
        for (const takeBack of offers) takeBack();
        happen();
      };
      const answer = (response: unknown): void => {
        this.inputs.add(this.name, response);
        resolve(response);
      };
      const fail = (error: Error): void => {
        this.inputs.add(this.name, error);
        reject(error);
      };
      offers = [
        this.world.offer(
          name,
          EVERYTHING,
          once(() => apply().then(answer, fail)),
        ),
        this.faults.offer(
          `${name} fails`,
          EVERYTHING,
          once(() => fail(new Error('scripted'))),
        ),
      ];
      if (!isWrite) return;
      const throttle = (): void => {
        this.seenVersion = -1;
        fail(serviceError('LimitExceededException', 'Rate exceeded'));
      };
      const lose = (): void => void apply().then(() => fail(responseLost()), fail);
      const arriveLate = (): void => {
        fail(responseLost());
        const takeBack = this.world.offer(`${name} arrives late`, EVERYTHING, () => {
          this.late.delete(takeBack);
          apply().catch(() => {});
        });
        this.late.add(takeBack);
      };
      offers.push(this.faults.offer(`${name} is throttled`, EVERYTHING, once(throttle)));
      offers.push(this.faults.offer(`${name}, and its response is lost`, EVERYTHING, once(lose)));
      offers.push(this.faults.offer(`${name} is late`, EVERYTHING, once(arriveLate)));
    });
  }
}
