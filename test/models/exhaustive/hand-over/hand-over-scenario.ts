import {
  deaggregate,
  deduplicate,
  FenceGate,
  type FenceStore,
  handOver,
  MemoryFenceStore,
  OrderedProducer,
  SequenceHistory,
  type UserRecord,
} from '../../../../lib/core';
import type { FakeShard } from '../../../../lib/testing/fake-shard';
import type { Scenario } from '../explore';
import { Faults } from '../faults';
import { StreamInSteps } from '../producer/stream-in-steps';
import type { World } from '../world';

export interface HandOverBounds {
  /** Records of the key before the move and behind it. */
  before: readonly string[];
  behind: readonly string[];
  /** How often a producer ends, at any moment. One that follows it puts as many records before the move and behind it. @default 0 */
  producerEnds?: number;
  /** How many things go wrong at the producer: a request that fails, is lost, or is applied late. */
  faults: number;
  /** How often a reader ends, before or behind the effects of a run. */
  crashes: number;
  /** How many Kinesis records a reader is given at once. */
  batch: number;
}

const KEY = 'a';
const OLD_HASH_KEY = 0n;
const NEW_HASH_KEY = 2n ** 127n;

/** A key moves from a shard to another, while a reader of each processes what comes, ends, and starts again. */
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
    'nothing that is acknowledged is lost',
  );
}

/** The records that producers acknowledged: one after another, until the key has moved. */
async function write(world: World, stream: StreamInSteps, bounds: HandOverBounds): Promise<string[]> {
  const ends = new Faults(world, bounds.producerEnds ?? 0);
  const delivered: string[] = [];
  /** Where the registry says that the key is. */
  let hashKey = OLD_HASH_KEY;
  const move = { partitionKeys: [KEY], fromHashKey: OLD_HASH_KEY, toHashKey: NEW_HASH_KEY };
  const record = async (): Promise<void> => {
    // The step is there only where a process can end before it or behind it.
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
      // A hand-over that failed can start again.
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
    // Whoever follows a producer that has ended waits until none of its requests can be held back any longer.
    await world.untilNothingIsLeft();
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

/** A reader for each shard. What takes effect is saved with the numbers that tell copies apart. */
class Readers {
  readonly applied: string[] = [];
  readonly end: Promise<unknown>;
  private readonly history = new SequenceHistory();
  private readonly fences = new MemoryFenceStore();
  private readonly faults: Faults;
  private readonly steps = new Map<string, number>();
  /** Readers that wait for a move to end: looking again before that changes nothing. */
  private waiting: (() => void)[] = [];

  constructor(
    private readonly world: World,
    shards: readonly FakeShard[],
    private readonly bounds: HandOverBounds,
  ) {
    this.faults = new Faults(world, bounds.crashes);
    this.end = Promise.all(shards.map((shard, number) => this.read(shard, `reader ${number + 1}`)));
  }

  private async read({ records }: FakeShard, name: string): Promise<void> {
    for (let position = 0; position < records.length; ) {
      const batch = records.slice(position, position + this.bounds.batch);
      if (
        await this.process(
          batch.flatMap((record) => deaggregate(record)),
          name,
        )
      )
        position += batch.length;
    }
  }

  /** Whether the whole batch took effect; false if the reader ended before that, and begins with it again. */
  private async process(batch: readonly UserRecord[], name: string): Promise<boolean> {
    const gate = new FenceGate({ store: this.store(name), clock: this.clock(name), random: () => 0, maxWaitMs: 1 });
    for await (const run of gate.runs(batch)) {
      await this.step(name, 'processes', 'effects');
      if (this.faults.choose(`${name} ends before the effects`)) return false;
      for (const { data } of deduplicate(run, this.history)) this.applied.push(Buffer.from(data).toString());
      if (this.faults.choose(`${name} ends behind the effects`)) return false;
    }
    return true;
  }

  private step(name: string, what: string, place: string): Promise<void> {
    const number = (this.steps.get(name) ?? 0) + 1;
    this.steps.set(name, number);
    return this.world.answer(`${name} ${what} ${number}`, { writes: [name, place] });
  }

  private store(name: string): FenceStore {
    return {
      end: async (move) => {
        await this.step(name, 'ends a move', 'fences');
        await this.fences.end(move);
        for (const look of this.waiting.splice(0)) look();
      },
      wait: async (move) => {
        await this.step(name, 'looks at a move', 'fences');
        return this.fences.wait(move, 0);
      },
    };
  }

  /** The time between two looks lasts until a move has ended. If none ever does, nothing can happen any more. */
  private clock(name: string) {
    const schedule = (look: () => void): (() => void) => {
      const wake = (): void => void this.step(name, 'wakes', 'fences').then(look);
      this.waiting.push(wake);
      return () => {};
    };
    return { now: () => 0, schedule, sleep: (): Promise<void> => new Promise((resolve) => void schedule(resolve)) };
  }
}

function promise(isKept: boolean, words: string): void {
  if (!isKept) throw new Error(words);
}
