import {
  type Clock,
  handOver,
  MemoryParkingStore,
  OrderedConsumer,
  OrderedProducer,
  type ParkingStore,
  type SequencePosition,
} from '../../../../lib/core';
import type { FakeShard } from '../../../../lib/testing/fake-shard';
import type { Scenario } from '../explore';
import { Faults } from '../faults';
import { StreamInSteps } from '../producer/stream-in-steps';
import { promise } from '../promise';
import type { World } from '../world';

export interface HandOverBounds {
  /** The records of the key before and after the move. */
  before: readonly string[];
  behind: readonly string[];
  /** How often a producer crashes. The next producer puts the same number of records before and after the move. @default 0 */
  producerEnds?: number;
  /** The maximum number of faults of the producer: a request fails, is lost, or is applied late. */
  faults: number;
  /** How often a reader crashes, before or after its effects. */
  crashes: number;
  /** The number of Kinesis records in a batch of a reader. */
  batch: number;
}

const KEY = 'a';
const OLD_HASH_KEY = 0n;
const NEW_HASH_KEY = 2n ** 127n;

/** A key moves to another shard while a reader of each shard processes records, crashes and restarts. */
export function handOverScenario(name: string, bounds: HandOverBounds): Scenario {
  return { name, timerFootprint: { writes: ['producer'] }, play: (world) => play(world, bounds) };
}

async function play(world: World, bounds: HandOverBounds): Promise<void> {
  const stream = new StreamInSteps(world, new Faults(world, bounds.faults), { shardCount: 2 });
  const delivered = await write(world, stream, bounds);
  const readers = new Readers(world, stream.shards.all, bounds);
  await world.until(readers.end);
  const texts = readers.applied;
  promise(new Set(texts).size === texts.length, 'no record takes effect twice');
  promise(
    texts.every((text, index) => index === 0 || texts[index - 1]! < text),
    'each key is in order',
  );
  promise(
    delivered.every((text) => texts.includes(text)),
    'no acknowledged record is lost',
  );
}

/** Returns the acknowledged records. Producers put records one after another until the key has moved. */
async function write(world: World, stream: StreamInSteps, bounds: HandOverBounds): Promise<string[]> {
  const ends = new Faults(world, bounds.producerEnds ?? 0);
  const delivered: string[] = [];
  /** The hash key that the registry has for the key. */
  let hashKey = OLD_HASH_KEY;
  const move = { partitionKeys: [KEY], fromHashKey: OLD_HASH_KEY, toHashKey: NEW_HASH_KEY };
  const record = async (): Promise<void> => {
    // This step exists only if a producer can crash before or after the step.
    if (ends.rest > 0) await world.answer('the move is recorded', { writes: ['producer'] });
    hashKey = NEW_HASH_KEY;
  };
  const live = async (producer: OrderedProducer, life: number, isThere: () => boolean): Promise<void> => {
    const put = (name: string): Promise<void> => {
      const text = `${life} ${name}`;
      return producer.put({ partitionKey: KEY, data: Buffer.from(text), explicitHashKey: hashKey }).then(
        () => void delivered.push(text),
        () => {},
      );
    };
    const puts = bounds.before.map(put);
    while (hashKey === OLD_HASH_KEY && isThere()) {
      // A failed hand-over can start again.
      await handOver(producer, move, record).catch(() => {});
    }
    await Promise.all([...puts, ...bounds.behind.map(put)]);
  };
  for (let life = 1; ; life++) {
    const crash = new AbortController();
    const crashed = new Promise<'crashed'>((resolve) =>
      crash.signal.addEventListener('abort', () => resolve('crashed')),
    );
    const takeBack = ends.offer('the producer ends', { writes: ['producer'] }, () => {
      stream.end(world.choose('what it has sent', ['arrives', 'never arrives']) === 'arrives');
      crash.abort();
    });
    const producer = producerOf(world, stream, crash.signal);
    const end = await world.until(Promise.race([live(producer, life, () => !crash.signal.aborted), crashed]));
    takeBack();
    // The next producer starts when each request of the crashed producer has arrived or is lost.
    await world.untilAllStepsAreTaken();
    if (end !== 'crashed') return delivered;
  }
}

function producerOf(world: World, stream: StreamInSteps, signal: AbortSignal): OrderedProducer {
  return new OrderedProducer(stream.client, {
    streamName: 'Events',
    clock: {
      ...world.clock,
      schedule: (callback, delayMs) => (delayMs > 1_000 ? () => {} : world.clock.schedule(callback, delayMs)),
    },
    random: () => 0.5,
    sequence: true,
    signal,
  });
}

/** A consumer for each shard. It stores its effects together with the sequence numbers that identify duplicates. */
class Readers {
  readonly applied: string[] = [];
  readonly end: Promise<unknown>;
  /** For each series of sequence numbers, the highest number whose record has taken effect. */
  private readonly done = new Map<string, string>();
  private readonly moves = new MemoryParkingStore();
  private readonly faults: Faults;
  private readonly steps = new Map<string, number>();
  /**
   * Consumers that wait for the end of a move. They check again only after the next change, because an earlier check would see
   * nothing new.
   */
  private waiting: (() => void)[] = [];

  constructor(
    private readonly world: World,
    shards: readonly FakeShard[],
    private readonly bounds: HandOverBounds,
  ) {
    this.faults = new Faults(world, bounds.crashes);
    this.end = Promise.all(shards.map((shard, number) => this.read(shard, `reader ${number + 1}`)));
  }

  /** Reads a shard to its end. After a crash, another process starts with the same batch. */
  private async read({ records }: FakeShard, name: string): Promise<void> {
    let process = this.process(name);
    for (let read = 0; read < records.length; ) {
      const batch = records.slice(read, read + this.bounds.batch);
      const progress = await Promise.race([process.consumer.process(batch, { source: 'Events' }), process.hasEnded]);
      if (progress === 'ended') process = this.process(name);
      else {
        promise(progress.problems.length === 0, 'no request fails');
        read += batch.length;
      }
    }
  }

  private process(name: string) {
    let hasEnded = (_: 'ended'): void => {};
    const end = new Promise<'ended'>((resolve) => {
      hasEnded = resolve;
    });
    const mayEnd = async (when: string): Promise<void> => {
      if (!this.faults.choose(`${name} ends ${when}`)) return;
      hasEnded('ended');
      await new Promise(() => {});
    };
    const consumer = new OrderedConsumer(
      async ({ data }, { once }) => {
        const [{ position }] = once<{ position?: SequencePosition }>([]) as [{ position: SequencePosition }];
        await this.step(name, 'handles', 'effects');
        await mayEnd('before the effect');
        if (!this.increase(position)) return;
        this.applied.push(Buffer.from(data).toString());
        await mayEnd('behind the effect');
      },
      { parking: this.store(name), clock: this.clock(name), random: () => 0, maxMoveWaitMs: 1 },
    );
    return { consumer, hasEnded: end };
  }

  /** Stores the number if it is higher than the stored number of its series. Returns whether it is higher. */
  private increase({ series, number }: SequencePosition): boolean {
    const isHigher = number > (this.done.get(series) ?? '');
    if (isHigher) this.done.set(series, number);
    return isHigher;
  }

  private step(name: string, what: string, place: string): Promise<void> {
    const number = (this.steps.get(name) ?? 0) + 1;
    this.steps.set(name, number);
    return this.world.answer(`${name} ${what} ${number}`, { writes: [name, place] });
  }

  /** The parking table. No key is parked. */
  private store(name: string): ParkingStore {
    const store: ParkingStore = new MemoryParkingStore();
    store.onceItem = (_, position) => ({ position });
    store.markHandled = async (_, position) => {
      await this.step(name, 'passes a fence', 'effects');
      this.increase(position);
    };
    store.endMove = async (move) => {
      await this.step(name, 'ends a move', 'fences');
      await this.moves.endMove(move);
      for (const look of this.waiting.splice(0)) look();
    };
    store.waitForMove = async (move) => {
      await this.step(name, 'looks at a move', 'fences');
      return this.moves.waitForMove(move, 0);
    };
    return store;
  }

  /** The clock of a consumer: a wait between two checks lasts until a move has ended. Attempts have no timeout. */
  private clock(name: string): Clock {
    const schedule = (callback: () => void, delayMs: number): (() => void) => {
      if (delayMs <= 1) this.waiting.push(() => void this.step(name, 'wakes', 'fences').then(callback));
      return () => {};
    };
    return {
      now: () => 0,
      schedule,
      sleep: (delayMs) => new Promise((resolve) => void schedule(resolve, delayMs)),
    };
  }
}
