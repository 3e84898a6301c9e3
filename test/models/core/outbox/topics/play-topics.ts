import { inspect } from 'node:util';
import { deaggregate, OrderedProducer, type PutRecordsClient } from '../../../../../lib/core';
import { OutboxRelay, type PostgresClient, type PostgresQuery } from '../../../../../lib/core/outbox';
import { FakeKinesis, type RequestFate } from '../../../../../lib/testing/fake-kinesis';
import { VirtualClock } from '../../../../../lib/testing/virtual-clock';
import { withoutDuplicates } from '../../../../support/without-duplicates';
import { OutboxModel } from '../../../exhaustive/outbox/outbox-model';
import { type DrawnPlay, type DrawnTransaction, drawnPlay, type Fate } from './drawn-topics';

/** The stream of a relay without topics. */
const EVERY_TOPIC = '';

/** All rows arrive in this time, because the relay tries a rejected row again within a minute. */
const MAX_CALM_MS = 20 * 60_000;

/** The maximum number of statements. Without it, a relay that polls in a loop would run forever, because the clock would not move. */
const MAX_STATEMENTS = 200_000;

/** The time until Postgres detects that a worker is gone. */
const MISSED_AFTER_MS = 200;

interface Worker {
  readonly name: string;
  readonly abort: AbortController;
  isDead: boolean;
  hasEnded: boolean;
  failure?: { code?: string };
  ended: Promise<void>;
}

/** How often each event happened in a random case. */
export interface Played {
  readonly rows: number;
  readonly givenUp: number;
  readonly repeats: number;
  readonly parked: number;
  readonly statements: number;
  readonly fates: number;
}

/** @throws if the rows of the consumers differ from the committed rows */
export function playTopics(seed: number): Promise<Played> {
  return new Play(drawnPlay(seed)).run();
}

class Play {
  private readonly clock = new VirtualClock();
  private readonly model: OutboxModel;
  private readonly streams = new Map<string, FakeKinesis>();
  private readonly workers: Worker[] = [];
  /** The committed rows of each key of a topic in the order of the commits. */
  private readonly committed = new Map<string, string[]>();
  private readonly waitingForLocks: (() => void)[] = [];
  private readonly counts = { started: 0, statements: 0, parked: 0, fates: 0, missing: 0 };
  private isCalm = false;

  constructor(private readonly drawn: DrawnPlay) {
    const { topics, ranges } = drawn;
    this.model = new OutboxModel({
      ranges,
      bucketOf: (key) => (Number(key.slice(1)) * 997) % 4_096,
      onMissing: () => {
        this.counts.missing += 1;
      },
    });
    for (const topic of topics.length > 0 ? topics : [EVERY_TOPIC]) this.streams.set(topic, this.stream());
  }

  async run(): Promise<Played> {
    await this.clock.runUntil(this.play());
    const { statements, parked, fates } = this.counts;
    const repeats = [...this.streams.keys()].reduce((sum, topic) => sum + this.seenOf(topic).repeats, 0);
    const rows = [...this.committed.values()].flat().length;
    return { rows, givenUp: this.model.rejected.length, repeats, parked, statements, fates };
  }

  private async play(): Promise<void> {
    const { writers, workers } = this.drawn;
    for (let worker = 0; worker < workers; worker++) this.startWorker();
    const writing = Promise.all(writers.map((transactions) => this.write(transactions)));
    let isWritten = false;
    void writing.then(() => {
      isWritten = true;
    });
    while (!isWritten) await this.disturb();
    this.isCalm = true;
    await this.untilAllHasArrived();
    await this.endWorkers();
    this.check();
    // A new worker must find no row to send.
    this.startWorker();
    await this.clock.sleep(1_000);
    await this.endWorkers();
    this.check();
    if (this.model.parked.length > 0) throw this.violation(`${this.model.parked.length} rows are parked`);
  }

  private async write(transactions: readonly DrawnTransaction[]): Promise<void> {
    const { model, clock } = this;
    for (const { rows, ends } of transactions) {
      await clock.sleep(this.upTo(this.drawn.pauseMs));
      const own = model.transactions.begin();
      for (const { key, topic, data } of rows) {
        while (model.transactions.isLocked(key, own)) {
          await new Promise<void>((resolve) => this.waitingForLocks.push(resolve));
        }
        model.put(own, key, data, topic);
        await clock.sleep(this.upTo(this.drawn.pauseMs));
      }
      model.end(own, ends);
      for (const resolve of this.waitingForLocks.splice(0)) resolve();
      if (ends === 'commit') for (const row of rows) this.noteCommit(row);
    }
  }

  private noteCommit({ key, topic = EVERY_TOPIC, data }: DrawnTransaction['rows'][number]): void {
    const name = `${topic} ${key}`;
    this.committed.set(name, [...(this.committed.get(name) ?? []), data]);
  }

  /** Disturbs a worker. New workers replace the workers that have ended. */
  private async disturb(): Promise<void> {
    const { fateEveryMs, fates, workers } = this.drawn;
    await this.clock.sleep(this.upTo(fateEveryMs ?? 10) + 1);
    const worker = this.workers[Math.floor(this.random() * this.workers.length)];
    if (fateEveryMs !== undefined && worker !== undefined) {
      this.counts.fates += 1;
      this.meet(worker, fates[Math.floor(this.random() * fates.length)]!);
    }
    this.buryEnded();
    while (this.workers.length < workers && this.random() < 0.5) this.startWorker();
  }

  private meet(worker: Worker, fate: Fate): void {
    const isMissed = this.random() < 0.5;
    if (fate === 'is stopped') worker.abort.abort();
    else if (fate === 'loses its locks') this.model.unlockAll(worker.name);
    else {
      worker.isDead = true;
      this.workers.splice(this.workers.indexOf(worker), 1);
      const unlock = (): void => this.model.unlockAll(worker.name);
      if (isMissed) this.clock.schedule(unlock, this.upTo(MISSED_AFTER_MS));
      else unlock();
    }
  }

  private buryEnded(): void {
    for (const worker of this.workers.filter(({ hasEnded }) => hasEnded)) {
      if (worker.failure !== undefined) throw this.violation(`a worker failed: ${inspect(worker.failure)}`);
      this.workers.splice(this.workers.indexOf(worker), 1);
    }
  }

  private startWorker(): void {
    const name = `worker ${this.counts.started++}`;
    const worker: Worker = {
      name,
      abort: new AbortController(),
      isDead: false,
      hasEnded: false,
      ended: Promise.resolve(),
    };
    const { topics, relay } = this.drawn;
    const known = topics.filter((topic) => topic !== this.drawn.lateTopic || this.isCalm);
    const producers = Object.fromEntries(known.map((topic) => [topic, this.producer(worker, topic)]));
    const sinks = topics.length > 0 ? producers : this.producer(worker, EVERY_TOPIC);
    const options = { leaseMs: 50, saveMs: 20, retryMs: 10, pollMs: 100, rotateMs: 60, clock: this.clock };
    worker.ended = new OutboxRelay(this.session(worker), sinks, { ...relay, ...options })
      .run({ signal: worker.abort.signal })
      .then(
        () => {},
        (error) => {
          worker.failure = error;
        },
      )
      .finally(() => {
        worker.hasEnded = true;
        this.model.unlockAll(worker.name);
      });
    this.workers.push(worker);
  }

  private producer(worker: Worker, topic: string): OrderedProducer {
    const kinesis = this.streams.get(topic)!;
    const client: PutRecordsClient = {
      putRecords: (input, options) => (worker.isDead ? never() : kinesis.putRecords(input, options)),
      listShards: (input) => kinesis.listShards(input),
    };
    const { aggregation, maxAttempts } = this.drawn;
    return new OrderedProducer(client, {
      streamName: 'Events',
      aggregation,
      maxAttempts,
      clock: this.clock,
      random: this.drawn.random,
    });
  }

  private stream(): FakeKinesis {
    const { faults, kinesisMs, relay } = this.drawn;
    return new FakeKinesis({
      clock: this.clock,
      shardCount: 2,
      roundTripMs: () => this.upTo(kinesisMs),
      requestFate: () => (!this.isCalm && this.random() < faults.request ? this.requestFate() : 'answered'),
      entryFate: ({ Data }) => {
        const isPoison = Buffer.from(Data).includes('poison');
        if (isPoison && (!this.isCalm || relay.maxTries !== undefined)) return 'refused';
        if (this.isCalm) return 'stored';
        if (this.random() < faults.failed) return 'failed';
        return this.random() < faults.refused ? 'refused' : 'stored';
      },
    });
  }

  private requestFate(): RequestFate {
    const fates: readonly RequestFate[] = ['failed', 'answer lost', { appliedLateByMs: this.upTo(100) }];
    return fates[Math.floor(this.random() * fates.length)]!;
  }

  /** The Postgres session of one worker: a statement is applied at one moment, and its response comes later. */
  private session(worker: Worker): PostgresClient {
    const { clock, model } = this;
    const query = async (statement: PostgresQuery): ReturnType<PostgresClient['query']> => {
      if (worker.isDead) return never();
      this.counts.statements += 1;
      if (this.counts.statements > MAX_STATEMENTS) throw this.violation('a relay sends statements in a loop');
      await clock.sleep(this.upTo(this.drawn.postgresMs) / 2);
      const answer = model.query(worker.name, statement);
      this.counts.parked = Math.max(this.counts.parked, model.parked.length);
      await clock.sleep(this.upTo(this.drawn.postgresMs) / 2);
      return worker.isDead ? never() : answer;
    };
    return { query, on: () => {}, removeListener: () => {} };
  }

  private async untilAllHasArrived(): Promise<void> {
    const endsAtMs = this.clock.now() + MAX_CALM_MS;
    // The workers of the earlier deployment end.
    for (const { abort } of this.workers) abort.abort();
    for (;;) {
      this.buryEnded();
      if (this.workers.length < this.drawn.workers) this.startWorker();
      if (this.wrong(({ seen, should }) => should.every((data) => seen.includes(data))) === undefined) return;
      if (this.clock.now() > endsAtMs) this.check();
      await this.clock.sleep(100);
    }
  }

  private async endWorkers(): Promise<void> {
    for (const { abort } of this.workers) abort.abort();
    await Promise.all(this.workers.map(({ ended }) => ended));
    this.buryEnded();
  }

  private check(): void {
    const wrong = this.wrong(({ key, seen, should }) => {
      // If the response to a request was lost, a row that was given up can still be in the stream, in the correct
      // order.
      const inPlace = seen.filter((data) => should.includes(data));
      return String(inPlace) === String(should) && seen.every((data) => this.committed.get(key)?.includes(data));
    });
    if (wrong !== undefined)
      throw this.violation(`the stream must have the rows ${wrong.should} of the key ${wrong.key}, got ${wrong.seen}`);
    if (this.counts.missing > 0) throw this.violation('a verification misses a row');
  }

  /** Returns the first key, with its topic, whose rows are wrong. */
  private wrong(isRight: (key: KeyOfATopic) => boolean): KeyOfATopic | undefined {
    const givenUp = new Set(this.model.rejected.map(({ data }) => data));
    const seen = new Map([...this.streams.keys()].flatMap((topic) => [...this.seenOf(topic).seen]));
    return [...new Set([...this.committed.keys(), ...seen.keys()])]
      .map((key) => ({
        key,
        seen: seen.get(key) ?? [],
        should: (this.committed.get(key) ?? []).filter((data) => !givenUp.has(data)),
      }))
      .find((each) => !isRight(each));
  }

  /** The rows of each key in a stream, without duplicates. */
  private seenOf(topic: string): { seen: Map<string, string[]>; repeats: number } {
    const records = this.streams
      .get(topic)!
      .records()
      .flatMap((record) => deaggregate(record));
    const once = withoutDuplicates(records);
    const seen = new Map<string, string[]>();
    for (const { partitionKey, data } of once) {
      const name = `${topic} ${partitionKey}`;
      seen.set(name, [...(seen.get(name) ?? []), Buffer.from(data).toString()]);
    }
    return { seen, repeats: records.length - once.length };
  }

  private random(): number {
    return this.drawn.random();
  }

  private upTo(ms: number): number {
    return Math.floor(this.random() * (ms + 1));
  }

  private violation(what: string): Error {
    const { random: _, writers: __, ...drawn } = this.drawn;
    return new Error(`seed ${drawn.seed}: ${what}; ${inspect({ ...drawn, ...this.counts }, { breakLength: 120 })}`);
  }
}

interface KeyOfATopic {
  readonly key: string;
  readonly seen: readonly string[];
  readonly should: readonly string[];
}

function never(): Promise<never> {
  return new Promise(() => {});
}
