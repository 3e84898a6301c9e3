import {
  type BaseParkingStore,
  DynamoDbParkingStore,
  MemoryParkingStore,
  OrderedConsumer,
  type OrderedConsumerOptions,
  type ParkedKey,
  type ParkedRecord,
  type ParkingStore,
  type ParkingTableClient,
  type ReadOptions,
  RecordDoneError,
  type RecordHandler,
  type ShardRecord,
} from '../../../../../../lib/core/consumer';
import { VirtualClock } from '../../../../../../lib/testing';
import { seededRandom } from '../../../../../../lib/testing/seeded-random';
import { allOf } from '../../../../../support/all-of';
import { PARKING_METHODS, ParkingTable } from '../../../../../support/fakes/parking-table';
import { kinesisEvent, SOURCE, shardOf, textOf } from '../../../../../support/fakes/stream-events';
import { Environment } from './environment';

/** Calls a function, and returns a function that returns its result or throws its error. */
async function attempt<T>(apply: () => Promise<T> | T): Promise<() => T> {
  try {
    const result = await apply();
    return () => result;
  } catch (error) {
    return () => {
      throw error;
    };
  }
}

/** What happened in a play. */
export interface PlayFacts {
  crashes: number;
  parked: number;
  /** Calls of the handler that began while another call for the same record ran in another environment. */
  overlaps: number;
  /** The overlaps in which the handler of the other call ignores its signal. */
  overlapsOfAborted: number;
  lateRequests: number;
}

const MINUTE_MS = 60_000;

/**
 * Plays a Lambda function that reads shards and replays parked keys in several environments. An environment handles one
 * invocation at a time, is frozen between invocations, and can crash. The parking store is slow, and loses responses.
 *
 * @throws Error with the broken promise
 */
export async function play(seed: number): Promise<PlayFacts> {
  const run = new Play(seed);
  await run.play();
  return run.facts;
}

class Play {
  readonly facts: PlayFacts = { crashes: 0, parked: 0, overlaps: 0, overlapsOfAborted: 0, lateRequests: 0 };
  private readonly random: () => number;
  private readonly clock = new VirtualClock();
  private readonly table = new ParkingTable();
  private readonly store: BaseParkingStore;
  private readonly environments: Environment[] = [];
  private readonly effects = new Map<string, string[]>();
  private readonly numbers = new Map<string, string>();
  /** The running calls of each record: the environment of each call. */
  private readonly calls = new Map<string, Map<Environment, AbortSignal>>();
  private readonly shards: ShardRecord[][];
  private readonly remainingMs: number;
  /** Whether the consumer runs in containers, which never freeze and do several things at a time. */
  private readonly inContainers: boolean;
  private readonly options: Partial<OrderedConsumerOptions>;
  private readonly faults: {
    fails: number;
    late: number;
    ignores: number;
    resolves: number;
    crashes: number;
    lost: number;
  };
  private broken?: string;
  private isCalm = false;
  private readers = 0;

  constructor(seed: number) {
    this.random = seededRandom(Math.imul(seed, 0x9e3779b1));
    const keys = 'abc'.slice(0, this.whole(1, 3));
    const counts = new Map<string, number>();
    this.shards = Array.from({ length: this.whole(1, 2) }, (_, shard) => {
      const texts = Array.from({ length: this.whole(1, 8) }, () => {
        const key = shard === 0 ? this.of(...keys) : this.of('x', 'y');
        counts.set(key, (counts.get(key) ?? 0) + 1);
        return `${key}${counts.get(key)}`;
      });
      return shardOf(texts, { shardId: `shardId-00000000000${shard}` });
    });
    this.remainingMs = this.of(MINUTE_MS, 10_000, 3_000);
    this.inContainers = this.chance(0.4);
    this.store = this.chance(0.5)
      ? new MemoryParkingStore({ timeOfDay: () => this.clock.now() })
      : this.storeOn(this.table.client());
    this.options = {
      attempts: this.whole(2, 4),
      concurrency: this.whole(1, 4),
      attemptTimeoutMs: this.of(undefined, undefined, 500, 2_000, 30_000),
      retryMs: this.of(1, 1_000, 30_000),
      maxTries: 1_000_000,
      maxAgeMs: Number.POSITIVE_INFINITY,
    };
    this.faults = {
      fails: this.of(0, 0.2, 0.5),
      late: this.of(0, 0.1, 0.3),
      ignores: this.of(0, 0.1, 0.3),
      resolves: this.of(0, 0, 0.3),
      crashes: this.of(0, 0, 0.05),
      lost: this.of(0, 0.1),
    };
  }

  async play(): Promise<void> {
    const readers = this.shards.map((records) => this.read(records));
    this.readers = readers.length;
    const replays = this.replay();
    await this.clock.runUntil(
      Promise.all([...readers.map((each) => each.finally(() => (this.readers -= 1))), replays]),
    );
    this.isCalm = true;
    // Late handlers and late writes end.
    for (const environment of this.environments) environment.thaw();
    await this.clock.runOut();
    for (let turn = 0; (await this.parkedKeys()).length > 0; turn++) {
      this.promise(turn < 50, 'no key stays parked');
      await this.clock.runUntil(this.clock.sleep(20 * MINUTE_MS));
      await this.clock.runUntil(this.inContainers ? this.inContainer(undefined) : this.invoke({ retryParked: true }));
    }
    this.check();
  }

  private parkedKeys(): Promise<ParkedKey[]> {
    return allOf(this.store.keys());
  }

  private check(): void {
    this.promise(this.broken === undefined, this.broken!);
    const written = new Map<string, string[]>();
    for (const { partitionKey, data } of this.shards.flat()) {
      written.set(partitionKey, [...(written.get(partitionKey) ?? []), textOf({ data })]);
    }
    for (const [key, texts] of written) {
      this.promise(
        this.effects.get(key)?.join() === texts.join(),
        `key ${key} is in order: ${texts} became ${this.effects.get(key)}`,
      );
    }
  }

  private promise(isKept: boolean, what: string): void {
    if (!isKept) throw new Error(what);
  }

  /** Reads a shard like Lambda: an invocation that fails is repeated, and a response names the next record. */
  private async read(records: readonly ShardRecord[]): Promise<void> {
    let position = 0;
    for (let turn = 0; position < records.length; turn++) {
      this.promise(turn < 300, 'the reader of a shard makes progress');
      const batch = records.slice(position, position + this.whole(1, 5));
      const response = await (this.inContainers ? this.inContainer(batch) : this.invoke(kinesisEvent(batch)));
      await this.clock.sleep(this.whole(0, 200));
      if (response === undefined) continue;
      const [failed] = response.batchItemFailures;
      const index =
        failed === undefined ? batch.length : batch.findIndex((each) => each.sequenceNumber === failed.itemIdentifier);
      this.promise(index >= 0, 'the response names a record of the batch');
      position += index;
    }
  }

  private async replay(): Promise<void> {
    while (this.readers > 0) {
      await this.clock.sleep(this.whole(1, 30_000));
      if (this.inContainers) void this.inContainer(undefined);
      else await this.invoke({ retryParked: true });
    }
  }

  /** Passes records to a container. Returns undefined if the container loses its shard, but it goes on. */
  private async inContainer(records: readonly ShardRecord[] | undefined) {
    const environment = this.container();
    const stop = new AbortController();
    if (!this.isCalm && this.chance(0.2)) this.clock.schedule(() => stop.abort(), this.random() * MINUTE_MS);
    if (records === undefined)
      return void (await environment.consumer.retryParked({ signal: stop.signal }).catch(() => {}));
    const progress = environment.consumer.process(records, { source: SOURCE, signal: stop.signal });
    const lost = this.chance(0.2) ? this.clock.sleep(this.random() * MINUTE_MS) : new Promise<void>(() => {});
    const end = await Promise.race([progress, lost]);
    if (end === undefined) return undefined;
    const { comesAgain } = end;
    return { batchItemFailures: comesAgain === undefined ? [] : [{ itemIdentifier: comesAgain.sequenceNumber }] };
  }

  private container(): Environment {
    if (this.environments.length < 2) {
      const environment = this.newEnvironment();
      environment.thaw();
      return environment;
    }
    return this.of(...this.environments);
  }

  private async invoke(event: object): Promise<{ batchItemFailures: { itemIdentifier: string }[] } | undefined> {
    const idle = this.environments.filter((each) => each.isIdle);
    const environment = idle.length > 0 && this.chance(0.8) ? this.of(...idle) : this.newEnvironment();
    const startedAt = this.clock.now();
    const isReplay = 'retryParked' in event;
    if (!this.isCalm && this.chance(this.faults.crashes)) {
      this.clock.schedule(() => {
        this.facts.crashes += 1;
        environment.crash();
      }, this.random() * this.remainingMs);
    }
    const response = await environment.invoke(
      () =>
        environment.consumer.handler(event as never, {
          getRemainingTimeInMillis: () => this.remainingMs,
        }),
      this.remainingMs,
    );
    if (!isReplay && response !== undefined) {
      this.promise(this.clock.now() - startedAt < this.remainingMs, 'the invocation ends in time');
    }
    return response as never;
  }

  private newEnvironment(): Environment {
    const environment = new Environment(this.clock);
    environment.consumer = new OrderedConsumer(this.handlerIn(environment), {
      parking: this.parkingIn(environment),
      clock: environment.clock,
      random: this.random,
      timeOfDay: () => this.clock.now(),
      ...this.options,
    });
    this.environments.push(environment);
    return environment;
  }

  private handlerIn(environment: Environment): RecordHandler {
    return async (record, { positions: [position], signal }) => {
      const text = textOf(record);
      const running = this.calls.get(text) ?? new Map();
      this.calls.set(text, running);
      if (running.has(environment)) this.broken ??= `two attempts at ${text} run in one environment`;
      const others = [...running].filter(([other]) => other !== environment && !other.isCrashed);
      if (others.length > 0) this.facts.overlaps += 1;
      const areAborted = others.some(([, { aborted }]) => aborted);
      if (areAborted) this.facts.overlapsOfAborted += 1;
      if (others.length > 0 && !areAborted && !this.inContainers)
        this.broken ??= `two attempts at ${text} overlap in two environments`;
      running.set(environment, signal);
      try {
        if (!this.isCalm && (await this.work(environment, signal)) === 'stopped') return;
        if (!this.isCalm && this.chance(this.faults.fails / 2)) throw new Error('before the effect');
        this.apply(record.partitionKey, text, position!);
        if (!this.isCalm) await environment.sleep(this.whole(0, 50));
        if (!this.isCalm && this.chance(this.faults.fails / 2)) throw new Error('after the effect');
      } finally {
        running.delete(environment);
      }
    };
  }

  /** Works for a while. Some handlers ignore the signal, and some handlers end without an effect when the signal aborts. */
  private async work(environment: Environment, signal: AbortSignal): Promise<'stopped' | undefined> {
    const isLong = this.chance(0.2);
    const ms = isLong ? this.random() * 2 * this.remainingMs : this.random() * 300;
    if (this.chance(this.faults.ignores)) {
      await environment.sleep(ms * 3);
      return undefined;
    }
    const endsQuietly = this.chance(this.faults.resolves);
    const aborted = new Promise<'stopped'>((resolve, reject) => {
      const onAbort = () => (endsQuietly ? resolve('stopped') : reject(new Error('aborted')));
      if (signal.aborted) onAbort();
      signal.addEventListener('abort', onAbort);
    });
    return (await Promise.race([environment.sleep(ms), aborted])) ?? undefined;
  }

  private apply(key: string, text: string, { series, number }: { series: string; number: string }): void {
    if (number <= (this.numbers.get(series) ?? '')) throw new RecordDoneError();
    this.numbers.set(series, number);
    this.effects.set(key, [...(this.effects.get(key) ?? []), text]);
  }

  /** The store as an environment reaches it. */
  private parkingIn(environment: Environment): ParkingStore {
    const { store, table } = this;
    const call = <T>(apply: () => Promise<T> | T, signal?: AbortSignal) => this.call(environment, apply, signal);
    if (!(store instanceof MemoryParkingStore)) {
      const calls = PARKING_METHODS.map((method) => [
        method,
        (input: never, options: { abortSignal?: AbortSignal } = {}) =>
          call<unknown>(() => {
            if (method === 'transactWriteItems') this.facts.parked += 1;
            return structuredClone(table[method](input));
          }, options.abortSignal),
      ]);
      return this.storeOn(Object.fromEntries(calls) as unknown as ParkingTableClient);
    }
    return {
      consumer: 'c',
      find: (keys) => call(() => store.find(keys)),
      async *keys() {
        yield* await call(() => allOf(store.keys()));
      },
      async *records(key: ParkedKey): AsyncGenerator<ParkedRecord> {
        yield* await call(() => allOf(store.records(key)));
      },
      save: (key, appended, { signal }: ReadOptions = {}) => {
        if (key.revision === undefined) this.facts.parked += 1;
        return call(() => store.save(key, appended), signal);
      },
      remove: (key) => call(() => store.remove(key)),
      markHandled: () => call(() => store.markHandled()),
      onceItem: () => ({}),
      endMove: (move) => call(() => store.endMove(move)),
      waitForMove: (move, ms) => call(() => store.waitForMove(move, ms)),
    };
  }

  private storeOn(client: ParkingTableClient): DynamoDbParkingStore {
    return new DynamoDbParkingStore(client, {
      tableName: 'Parked',
      consumer: 'c',
      timeOfDay: () => this.clock.now(),
    });
  }

  /** Sends a request of an environment. The request and its response take time, and can be lost. */
  private async call<T>(environment: Environment, apply: () => Promise<T> | T, signal?: AbortSignal): Promise<T> {
    const isLate = !this.isCalm && this.chance(this.faults.late);
    const lateMs = isLate ? this.random() * 2 * this.remainingMs : 0;
    const [thereMs, backMs] = this.chance(0.5) ? [lateMs, 0] : [0, lateMs];
    const isLost = (): boolean => !this.isCalm && this.chance(this.faults.lost / 2);
    if (environment.isCrashed) return new Promise<T>(() => {});
    // The request waits in the client, which an abort ends.
    await environment.sleep(thereMs);
    signal?.throwIfAborted();
    await this.clock.sleep(this.random() * 20);
    if (isLost()) throw await environment.awake(new Error('refused'));
    const result = await attempt(apply);
    if (isLate) this.facts.lateRequests += 1;
    await this.clock.sleep(this.random() * 20 + backMs);
    if (isLost()) throw await environment.awake(new Error('no response'));
    return (await environment.awake(result))();
  }

  private of<T>(...options: T[]): T {
    return options[Math.floor(this.random() * options.length)]!;
  }

  private whole(least: number, most: number): number {
    return least + Math.floor(this.random() * (most - least + 1));
  }

  private chance(probability: number): boolean {
    return this.random() < probability;
  }
}
