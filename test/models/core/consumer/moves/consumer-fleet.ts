import {
  MemoryParkingStore,
  OrderedConsumer,
  type ParkingStore,
  type SequencePosition,
} from '../../../../../lib/core/consumer';
import type { FakeShard, StoredRecord } from '../../../../../lib/testing/fake-shard';
import type { VirtualClock } from '../../../../../lib/testing/virtual-clock';

export interface FleetOptions {
  clock: VirtualClock;
  random: () => number;
  /** The number of processes that share the shards. */
  processes: number;
  /** The probability that a process crashes at a call of the parking table. */
  crashes: number;
  /** The probability that a shard is read again from an earlier record. */
  replays: number;
  /** The maximum number of records in a batch. */
  largestBatch: number;
  /** Whether a record fails until `heal` is called. */
  isPoison(text: string): boolean;
}

/** A record that has taken effect. */
interface AppliedRecord {
  text: string;
  /** The producer and the hash key of the record. */
  series: string;
}

interface Process {
  readonly consumer: OrderedConsumer;
  readonly crash: Promise<'crashed'>;
}

/** A consumer waits at most this time for an end fence. All events of a history take less time. */
const MAX_WAIT_MS = 900_000;
/** The maximum number of crashes. Without it, a process that always crashes before the end of a wait would wait forever. */
const MAX_CRASHES = 12;
/** The maximum number of replays. Without it, a long shard with small batches would never be read to its end. */
const MAX_REPLAYS = 10;
const MAX_TURNS = 50;

/** Consumers that read shards in parallel, crash, restart, and share a parking table and a table of effects. */
export class ConsumerFleet {
  /** How often a consumer gave up its wait for an end fence, because the fence did not come. */
  letGo = 0;
  crashed = 0;
  parked = 0;
  private readonly parking = new MemoryParkingStore();
  private readonly effects = new Map<string, AppliedRecord[]>();
  /** For each series (the sequence numbers of one producer for a key): the highest number whose record has taken effect or is an end fence. */
  private readonly numbers = new Map<string, string>();
  private readonly processes: Process[];
  private readonly ended = new Map<FakeShard, Promise<void>>();
  private isHealed = false;

  constructor(private readonly options: FleetOptions) {
    this.processes = Array.from({ length: options.processes }, () => this.start());
  }

  /** Reads shards to their ends, and parent shards before their child shards. */
  async read(shards: readonly FakeShard[], recordsOf: (shard: FakeShard) => readonly StoredRecord[]): Promise<void> {
    this.ended.clear();
    for (const shard of shards) {
      const parents = shard.parents.map((parent) => this.ended.get(parent));
      this.ended.set(
        shard,
        Promise.all(parents).then(() => this.readShard(recordsOf(shard))),
      );
    }
    await Promise.all(this.ended.values());
  }

  /** Lets every record succeed, and replays parked keys until no key is parked. */
  async heal(): Promise<void> {
    this.isHealed = true;
    for (let turn = 0; turn < MAX_TURNS; turn++) {
      await this.options.clock.sleep(MAX_WAIT_MS);
      const { consumer, crash } = this.start();
      const summary = await Promise.race([consumer.retryParked(), crash]);
      if (summary !== 'crashed' && summary.stillParked === 0) return;
    }
    throw new Error('a key stays parked');
  }

  applied(partitionKey: string): readonly AppliedRecord[] {
    return this.effects.get(partitionKey) ?? [];
  }

  private start(): Process {
    const { clock, random, isPoison } = this.options;
    let end = (_: 'crashed'): void => {};
    const crash = new Promise<'crashed'>((resolve) => {
      end = resolve;
    });
    const consumer = new OrderedConsumer(
      async ({ partitionKey, data, sequence, explicitHashKey }, { once }) => {
        const [{ name, number }] = once<object>([]) as [{ name: string; number: string }];
        const text = Buffer.from(data).toString();
        await clock.sleep(random() * 20);
        if (!this.isHealed && isPoison(text)) throw new Error('poison');
        if (!this.increase(name, number)) return;
        const applied = { text, series: `${sequence?.producerId} ${explicitHashKey}` };
        this.effects.set(partitionKey, [...this.applied(partitionKey), applied]);
      },
      {
        ...{ parking: this.remote(() => end('crashed')), clock, random, timeOfDay: () => clock.now() },
        ...{ attempts: 2, maxTries: 1_000, maxAgeMs: Number.MAX_SAFE_INTEGER, maxMoveWaitMs: MAX_WAIT_MS },
        maxKeys: random() < 0.3 ? 1 : 1_000,
        onLetGo: () => {
          this.letGo += 1;
        },
        onFailure: ({ isParked }) => {
          if (isParked) this.parked += 1;
        },
      },
    );
    return { consumer, crash };
  }

  /** Stores the number if it is higher than the stored number of the series. Returns whether it is higher. */
  private increase(series: string, number: string): boolean {
    const isHigher = number > (this.numbers.get(series) ?? '');
    if (isHigher) this.numbers.set(series, number);
    return isHigher;
  }

  /** The parking table as a process sees it: a call takes time, and the process can crash during the call. */
  private remote(crash: () => void): ParkingStore {
    const { parking } = this;
    const call = async <T>(send: () => Promise<T>): Promise<T> => {
      const { clock, random } = this.options;
      await clock.sleep(random() < 0.1 ? random() * 5_000 : random() * 20);
      await this.mayCrash(crash);
      const answer = await send();
      await clock.sleep(random() * 20);
      await this.mayCrash(crash);
      return answer;
    };
    const nameOf = (partitionKey: string, { series }: SequencePosition) => JSON.stringify([partitionKey, series]);
    return {
      consumer: 'fleet',
      find: (keys) => call(() => parking.find(keys)),
      keys: () => parking.keys(),
      records: (key) => parking.records(key),
      save: (key, appended) => call(() => parking.save(key, appended)),
      remove: (key) => call(() => parking.remove(key)),
      markHandled: (key, position) => call(async () => void this.increase(nameOf(key, position), position.number)),
      onceItem: (key, position) => ({ name: nameOf(key, position), number: position.number }),
      endMove: (move) => call(() => parking.endMove(move)),
      waitForMove: (move, waitedMs) => call(() => parking.waitForMove(move, waitedMs)),
    };
  }

  private async mayCrash(crash: () => void): Promise<void> {
    if (this.options.random() >= this.options.crashes / 2 || this.crashed >= MAX_CRASHES) return;
    this.crashed += 1;
    crash();
    await new Promise(() => {});
  }

  private async readShard(records: readonly StoredRecord[]): Promise<void> {
    const { clock, random, replays, largestBatch } = this.options;
    let read = 0;
    let replayed = 0;
    while (read < records.length) {
      const batch = records.slice(read, read + 1 + Math.floor(random() * largestBatch));
      read += await this.process(batch);
      if (replayed < MAX_REPLAYS && random() < replays) {
        replayed += 1;
        read = Math.floor(random() * read);
      }
      await clock.sleep(random() * 200);
    }
  }

  /** Processes a batch. Returns how many records at the start of the batch are not delivered again. */
  private async process(batch: readonly StoredRecord[]): Promise<number> {
    const { clock, random } = this.options;
    const number = Math.floor(random() * this.processes.length);
    const process = this.processes[number]!;
    const stop = new AbortController();
    const cancel = clock.schedule(() => stop.abort(), 500 + random() * 5_000);
    const work = process.consumer.process(batch, { source: 'events', signal: stop.signal });
    const progress = await Promise.race([work, process.crash]);
    cancel();
    if (progress !== 'crashed')
      return progress.comesAgain ? batch.indexOf(progress.comesAgain as StoredRecord) : batch.length;
    if (this.processes[number] === process) this.processes[number] = this.start();
    return 0;
  }
}
