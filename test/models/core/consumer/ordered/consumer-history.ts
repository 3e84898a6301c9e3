import {
  MemoryParkingStore,
  OrderedConsumer,
  type ParkedKey,
  type ParkedRecord,
  type ParkingStore,
  RecordDoneError,
  type SequencePosition,
} from '../../../../../lib/core/consumer';
import { AggregateBuilder } from '../../../../../lib/core/producer/aggregate-builder';
import { fenceData } from '../../../../../lib/core/stream-format/fence';
import { VirtualClock } from '../../../../../lib/testing';
import { seededRandom } from '../../../../../lib/testing/seeded-random';
import { EventSource, type WrittenRecord } from '../../../../support/fakes/event-source';
import { kinesisEvent } from '../../../../support/fakes/stream-events';

/** What happened in a history, so that a test can say that everything did. */
export interface ConsumerFacts {
  records: number;
  crashes: number;
  timeouts: number;
  lostAnswers: number;
  failedCalls: number;
  copies: number;
  parked: number;
  moves: number;
  reshards: number;
  racingRetries: number;
  staleInvocations: number;
  byOnce: number;
  byPositions: number;
}

interface Shard {
  readonly shardId: string;
  readonly records: WrittenRecord[];
  readonly parents: readonly Shard[];
  readonly isOpen: boolean;
}

/** Effects as a table keeps them, each with the number of its record, in one transaction. */
class Effects {
  readonly texts: string[] = [];
  private readonly done = new Map<string, string>();

  apply(partitionKey: string, { series, number }: SequencePosition, text: string): void {
    const name = JSON.stringify([partitionKey, series]);
    if (number <= (this.done.get(name) ?? '')) throw new RecordDoneError();
    this.done.set(name, number);
    this.texts.push(text);
  }

  /** As the handler of a user does it, in a store of the user. */
  applyAt(positions: readonly SequencePosition[], text: string): void {
    if (positions.some(({ series, number }) => number <= (this.done.get(series) ?? ''))) return;
    for (const { series, number } of positions) this.done.set(series, number);
    this.texts.push(text);
  }

  pass(partitionKey: string, { series, number }: SequencePosition): void {
    const name = JSON.stringify([partitionKey, series]);
    if (number > (this.done.get(name) ?? '')) this.done.set(name, number);
  }
}

const KEYS = ['a', 'b', 'c', 'd', 'e'];
const LONGEST_TIMEOUT_MS = 30_000;
const MOST_TIME_MS = 2 * 60 * 60_000;
const MOST_BETWEEN_MS = 400;

/**
 * A stream whose keys have copies and move, whose shards are split, and whose consumer fails, runs out of time, crashes at any
 * call of its parking table and loses answers, while retries race its batches. Throws if a promise is broken.
 */
export async function checkConsumerHistory(seed: number): Promise<ConsumerFacts> {
  const random = seededRandom(seed);
  const history = new ConsumerHistory(random);
  return history.clock.runUntil(history.play());
}

class ConsumerHistory {
  readonly clock = new VirtualClock();
  private readonly facts: ConsumerFacts = {
    ...{ records: 0, crashes: 0, timeouts: 0, lostAnswers: 0, failedCalls: 0, copies: 0, parked: 0, moves: 0 },
    ...{ reshards: 0, racingRetries: 0, staleInvocations: 0, byOnce: 0, byPositions: 0 },
  };
  private readonly effects = new Effects();
  private readonly table = new MemoryParkingStore();
  private readonly poison = new Set<string>();
  private readonly written = new Map<string, string[]>();
  private readonly hasSequence: boolean;
  /** Whether the handler uses `positions`, and not `once`. */
  private readonly usesPositions: boolean;
  private hostility: number;
  private readonly pauseMs: number;
  private processes: OrderedConsumer[] = [];

  constructor(private readonly random: () => number) {
    this.hasSequence = random() < 0.7;
    this.usesPositions = random() < 0.5;
    this.facts[this.usesPositions ? 'byPositions' : 'byOnce'] += 1;
    this.hostility = random() * 0.15;
    this.pauseMs = 300 * 50 ** random();
  }

  async play(): Promise<ConsumerFacts> {
    const shards = this.write();
    this.processes = [this.process(), this.process()];
    const source = new EventSource(
      this.clock,
      () => shards,
      (batch) => this.invoke(batch),
    );
    let isRead = false;
    const settings = {
      batchSize: 1 + Math.floor(this.random() * 12),
      atTipMs: 1_000,
      retryMs: 500,
      longestRetryMs: 1_000,
    };
    const reading = source.readAll(settings).then(() => {
      isRead = true;
    });
    await Promise.all([reading, this.retryNowAndThen(source, () => isRead)]);
    // Everything heals, and what is parked is taken up again.
    this.hostility = 0;
    this.poison.clear();
    // Whoever was given up ends, and may park something even now.
    await this.clock.sleep(2 * LONGEST_TIMEOUT_MS);
    for (let turn = 0; turn < 50; turn++) {
      this.clock.nowMs += 20 * 60_000;
      await this.process().retryParked();
    }
    for await (const key of this.table.keys()) throw new Error(`${JSON.stringify(key)} is parked in the end`);
    this.check();
    return this.facts;
  }

  /** Two shards, one of which is split; keys that move with fences; copies of records behind them. */
  private write(): Shard[] {
    const parents: Shard[] = [0, 1].map((n) => ({ shardId: `shard-${n}`, records: [], parents: [], isOpen: false }));
    const child: Shard = { shardId: 'shard-2', records: [], parents: [parents[0]!], isOpen: false };
    const isSplit = this.random() < 0.5;
    if (isSplit) this.facts.reshards += 1;
    const shards = isSplit ? [...parents, child] : parents;
    const place = new Map(KEYS.map((key, index) => [key, parents[index % 2]!]));
    // Shards that began at other times have other numbers.
    const next = new Map(shards.map((shard, index) => [shard, 1_000 * (3 - index)]));
    let number = 0;
    let moves = 0;
    let writtenAtMs = 0;
    /** The hash key stays with a key when its shard is split, and changes when the key moves. */
    const hashKeys = new Map(KEYS.map((key, index) => [key, BigInt(index % 2)]));
    const put = (partitionKey: string, data: Uint8Array, sequence: number): void => {
      const shard = place.get(partitionKey)!;
      const sequenceNumber = next.get(shard)! + 1;
      next.set(shard, sequenceNumber);
      shard.records.push({
        ...{ shardId: shard.shardId, partitionKey, sequenceNumber: String(sequenceNumber) },
        arrivedAtMs: writtenAtMs,
        data: this.hasSequence ? aggregateOf(partitionKey, data, BigInt(sequence), hashKeys.get(partitionKey)!) : data,
      });
    };
    const count = 10 + Math.floor(this.random() * 60);
    const splitAt = Math.floor(count / 2);
    for (let index = 0; index < count; index++) {
      writtenAtMs += this.random() * MOST_BETWEEN_MS;
      const partitionKey = KEYS[Math.floor(this.random() ** 2 * KEYS.length)]!;
      if (isSplit && index === splitAt) {
        for (const [key, shard] of place) if (shard === parents[0]) place.set(key, child);
      }
      if (this.hasSequence && this.random() < 0.04) {
        const [from, to] = [place.get(partitionKey)!, shards[shards.length - 1 - (moves % 2)]!];
        const open = !isSplit || index >= splitAt || to !== child;
        if (open && to !== from && !(isSplit && index >= splitAt && to === parents[0])) {
          moves += 1;
          const moveId = `move ${moves}`;
          number += 1;
          const rejected = number;
          put(partitionKey, fenceData({ moveId, side: 'end' }), ++number);
          // The network has held it back until its producer had rejected it, and its key had moved. Only the parking store
          // keeps the number of the fence.
          if (!this.usesPositions && this.random() < 0.5)
            put(partitionKey, Buffer.from(`${partitionKey} rejected`), rejected);
          place.set(partitionKey, to);
          hashKeys.set(partitionKey, BigInt(shards.indexOf(to)));
          put(partitionKey, fenceData({ moveId, side: 'start' }), ++number);
          this.facts.moves += 1;
        }
      }
      number += 1;
      const text = `${partitionKey}${String(number).padStart(4, '0')}`;
      put(partitionKey, Buffer.from(text), number);
      const texts = this.written.get(partitionKey) ?? [];
      this.written.set(partitionKey, [...texts, text]);
      this.facts.records += 1;
      if (this.random() < 0.08) this.poison.add(text);
      if (this.hasSequence && this.random() < 0.1) {
        this.facts.copies += 1;
        put(partitionKey, Buffer.from(text), number);
      }
    }
    return shards;
  }

  /** The answer of an invocation. Throws if it crashed, or Lambda has given it up while it goes on. */
  private async invoke(batch: readonly WrittenRecord[]): Promise<unknown> {
    const number = Math.floor(this.random() * this.processes.length);
    const consumer = this.processes[number]!;
    const timeoutMs = this.random() < 0.3 ? 100 + 900 * this.random() : LONGEST_TIMEOUT_MS;
    const startedAt = this.clock.now();
    const context = { getRemainingTimeInMillis: () => timeoutMs - (this.clock.now() - startedAt) };
    const answer = consumer.handler(kinesisEvent(batch), context);
    const isGivenUp = this.random() < this.hostility / 3;
    if (isGivenUp) this.facts.staleInvocations += 1;
    const crash = new Promise<undefined>((resolve) => {
      if (isGivenUp) this.clock.schedule(() => resolve(undefined), this.random() * 500);
    });
    const end = await Promise.race([answer.catch(() => undefined), this.crashOf(consumer), crash]);
    if (end === undefined && !isGivenUp) this.processes[number] = this.process();
    if (end === undefined) throw new Error('no answer');
    return end;
  }

  private readonly crashes = new Map<OrderedConsumer, Promise<undefined>>();

  private crashOf(consumer: OrderedConsumer): Promise<undefined> {
    return this.crashes.get(consumer)!;
  }

  private async retryNowAndThen(source: EventSource, isRead: () => boolean): Promise<void> {
    while (!isRead()) {
      await this.clock.sleep(this.pauseMs * this.random());
      if (this.clock.now() > MOST_TIME_MS) {
        const texts = source.waiting.map(({ partitionKey, sequenceNumber }) => `${partitionKey} ${sequenceNumber}`);
        throw new Error(`a shard does not go on: ${texts}`);
      }
      const retries = this.random() < 0.3 ? 2 : 1;
      if (retries > 1) this.facts.racingRetries += 1;
      const run = async (): Promise<void> => {
        const consumer = this.process();
        await Promise.race([consumer.retryParked().catch(() => undefined), this.crashOf(consumer)]);
      };
      await Promise.all(Array.from({ length: retries }, run));
      for (const text of this.random() < 0.3 ? this.poison : []) if (this.random() < 0.3) this.poison.delete(text);
    }
  }

  /** A process that can crash, and whose parking table fails and loses answers. */
  private process(): OrderedConsumer {
    let crash = (): void => {};
    const crashed = new Promise<undefined>((resolve) => {
      crash = () => {
        this.facts.crashes += 1;
        resolve(undefined);
      };
    });
    const parking = this.hostileStore(crash);
    const consumer = new OrderedConsumer(
      async (record, { signal, once, positions }) => {
        await this.clock.sleep(this.random() * 40);
        if (this.random() < this.hostility / 6) {
          this.facts.timeouts += 1;
          await new Promise<void>((resolve) => {
            if (this.random() < 0.5) signal.addEventListener('abort', () => resolve());
          });
        }
        await this.mayCrash(crash);
        const text = Buffer.from(record.data).toString();
        if (this.poison.has(text) || this.random() < this.hostility / 2) throw new Error('poison');
        if (this.usesPositions) this.effects.applyAt(positions, text);
        else {
          const [{ position }] = once<{ position?: SequencePosition }>([]) as [{ position: SequencePosition }];
          this.effects.apply(record.partitionKey, position, text);
        }
        await this.mayCrash(crash);
        if (this.random() < this.hostility / 4) throw new Error('failed behind its effect');
      },
      {
        parking,
        ...{ clock: this.clock, random: this.random, timeOfDay: () => this.clock.now() },
        ...{ attempts: 2, concurrency: 1 + Math.floor(this.random() * 4), retryMs: 1_000, maxTries: 1_000 },
        maxKeys: this.random() < 0.3 ? 1 : 1_000,
        attemptTimeoutMs: 3_000,
        // A move that is let go promises no order.
        maxMoveWaitMs: Number.MAX_SAFE_INTEGER,
        onFailure: ({ isParked }) => {
          if (isParked) this.facts.parked += 1;
        },
      },
    );
    this.crashes.set(consumer, crashed);
    return consumer;
  }

  private async mayCrash(crash: () => void): Promise<void> {
    if (this.random() >= this.hostility / 4) return;
    crash();
    await new Promise(() => {});
  }

  private hostileStore(crash: () => void): ParkingStore {
    const { table, effects } = this;
    const call = async <T>(send: () => Promise<T>): Promise<T> => {
      await this.clock.sleep(this.random() * 20);
      await this.mayCrash(crash);
      if (this.random() < this.hostility) {
        this.facts.failedCalls += 1;
        throw new Error('refused');
      }
      const answer = await send();
      // A write that the network has held back may be done after its sender has gone.
      await this.clock.sleep(this.random() * 20);
      if (this.random() < this.hostility) {
        this.facts.lostAnswers += 1;
        throw new Error('no answer');
      }
      await this.mayCrash(crash);
      return answer;
    };
    return {
      consumer: 'c',
      endMove: (move) => call(() => table.endMove(move)),
      waitForMove: (move, ms) => call(() => table.waitForMove(move, ms)),
      find: (keys) => call(() => table.find(keys)),
      keys: () => table.keys(),
      records: (key) => table.records(key),
      save: (key: ParkedKey, appended?: readonly ParkedRecord[]) => call(() => table.save(key, appended)),
      remove: (key) => call(() => table.remove(key)),
      markHandled: (partitionKey, position) => call(async () => effects.pass(partitionKey, position)),
      onceItem: (_, position) => ({ position }),
    };
  }

  private check(): void {
    for (const [partitionKey, texts] of this.written) {
      const applied = this.effects.texts.filter((text) => text.startsWith(partitionKey));
      if (applied.join() !== texts.join()) {
        throw new Error(`${partitionKey} has ${applied.join(' ')} and not ${texts.join(' ')}`);
      }
    }
  }
}

function aggregateOf(
  partitionKey: string,
  data: Uint8Array,
  sequenceNumber: bigint,
  explicitHashKey: bigint,
): Uint8Array {
  const builder = new AggregateBuilder({ maxBytes: 2 ** 20 });
  builder.tryAdd({ partitionKey, data, explicitHashKey, sequence: { producerId: 'p', sequenceNumber } });
  return builder.build().data;
}
