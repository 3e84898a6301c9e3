import { deaggregate, deduplicate, OrderedProducer, SequenceHistory } from '../../../lib/core';
import { uniformRanges } from '../../../lib/core/foundation/hash-key-ranges';
import { OutboxRelay, type PostgresClient, type PostgresQuery, type RecordSink } from '../../../lib/core/outbox';
import { OutboxDatabase } from '../../../lib/core/outbox/outbox-database';
import { Progress } from '../../../lib/core/outbox/progress';
import { Fifo } from '../../../lib/core/producer/fifo';
import { recordsAlongLineage } from '../../../lib/testing/fake-shard';
import { ShardMap } from '../../../lib/testing/shard-map';
import type { Scenario } from '../explore';
import { Faults } from '../faults';
import { stateText } from '../heard';
import { memoryText } from '../memory';
import { StreamInSteps } from '../producer/stream-in-steps';
import type { World } from '../world';
import { type ModelRow, OutboxModel } from './outbox-model';
import { LEASE_MS, POLL_MS, RETRY_MS, RelayClock, SAVE_MS, STATEMENT_TIMEOUT_MS } from './relay-clock';

export interface OutboxBounds {
  workers: number;
  /** What each writer puts in one transaction, row by row, each named by its key and its number, and how it ends. */
  writers: readonly { readonly rows: readonly string[]; readonly ends: 'commit' | 'rollback' }[];
  /** How many of the writers have ended when the workers start. */
  ended: number;
  /** How many rows a window has. */
  windowRows: number;
  /** How many rows of a key the producer may have before the others are parked. */
  rowsOfAKey: number;
  /** After how many tries a row is given up. */
  maxTries?: number;
  /** Whether slots are emptied. */
  rotates?: boolean;
  /** What becomes of workers, besides what becomes of their requests to Kinesis. */
  fates: readonly Fate[];
  faults: number;
}

/**
 * A worker is gone at once; it loses its locks, and goes on as if it held them; it is told to end. In the place of one that
 * ends comes another.
 */
export type Fate = 'crashes' | 'loses its locks' | 'is told to end';

const SHARE_OF_A_KEY = 8;
const NEVER_MS = 2 ** 31 - 1;

/** Workers relay an outbox, while writers write to it, and workers come and go. */
export function outboxScenario(name: string, bounds: OutboxBounds): Scenario {
  return { name, play: (world) => new Outbox(world, bounds).play() };
}

class Outbox {
  readonly faults: Faults;
  readonly acknowledged = new Set<string>();
  readonly shards = new ShardMap(uniformRanges(1), undefined, () => 0);
  readonly model: OutboxModel;
  readonly workers: Worker[] = [];
  failure?: Error;
  private readonly streams: StreamInSteps[] = [];
  private readonly transactions = new Map<number, number>();

  constructor(
    readonly world: World,
    readonly bounds: OutboxBounds,
  ) {
    this.faults = new Faults(world, bounds.faults);
    this.model = new OutboxModel({ onRemoved: (row) => this.checkRemoved(row) });
  }

  async play(): Promise<void> {
    const { writers, ended, workers } = this.bounds;
    this.world.says(() => this.state());
    writers.slice(0, ended).forEach(({ rows, ends }, number) => {
      for (const row of rows) this.put(number, row);
      this.end(number, ends);
    });
    const writing = writers.slice(ended).map((writer, index) => this.write(ended + index, writer));
    for (let number = 1; number <= workers; number++) this.start(`worker ${number}`);
    await this.world.until(Promise.all(writing));
    await this.world.untilNothingIsLeft();
    if (this.failure !== undefined) throw this.failure;
    this.check();
  }

  /** A worker begins, or another in its place. */
  start(name: string): void {
    const worker = new Worker(this, name);
    this.workers.push(worker);
    this.streams.push(worker.stream);
    worker.start();
  }

  /** Something has changed in the database. */
  changed(): void {
    for (const worker of this.workers) worker.clock.reconsider();
  }

  private async write(number: number, { rows, ends }: OutboxBounds['writers'][number]): Promise<void> {
    const name = `writer ${number + 1}`;
    for (const row of rows) {
      await this.untilFree(number, row);
      this.put(number, row);
    }
    await this.world.answer(`${name} ends`, { writes: [name, 'transactions', 'messages'] });
    this.end(number, ends);
    this.changed();
  }

  /** A put waits for the transactions that have put rows of its key before. */
  private async untilFree(number: number, row: string): Promise<void> {
    const name = `writer ${number + 1}`;
    do await this.world.answer(`${name} puts ${row}`, { writes: [name, 'transactions'] });
    while (this.model.isLocked(row[0]!, this.transactions.get(number)) && (await this.anotherEnds()));
  }

  private async anotherEnds(): Promise<true> {
    await new Promise<void>((resolve) => this.waiting.push(resolve));
    return true;
  }

  private waiting: (() => void)[] = [];

  private put(number: number, row: string): void {
    this.transactions.set(number, this.model.put(this.transactions.get(number), row[0]!, row));
    this.changed();
  }

  private end(number: number, ends: 'commit' | 'rollback'): void {
    this.model.end(this.transactions.get(number)!, ends);
    for (const resolve of this.waiting.splice(0)) resolve();
  }

  private state(): string {
    const { model, faults, acknowledged, streams, transactions } = this;
    const workers = this.workers.map((worker) => worker.state).sort();
    const underWay = streams
      .flatMap((stream) => [...stream.underWay])
      .map(([request, { entries, answer }]) => {
        return [request, entries.map(({ Data }) => base64(Data)), answer === undefined ? answer : codesOf(answer)];
      });
    const arrived = [...acknowledged].sort();
    return stateText([model.state, workers, faults.rest, arrived, this.stored(), underWay.sort(), transactions]);
  }

  /** The records of each key, in order. */
  private stored(): unknown {
    const byKey = new Map<string, string[]>();
    for (const { partitionKey, data } of this.shards.all.flatMap(({ records }) => records)) {
      byKey.set(partitionKey, [...(byKey.get(partitionKey) ?? []), base64(data)]);
    }
    return [...byKey].sort();
  }

  private checkRemoved({ data }: ModelRow): void {
    promise(this.acknowledged.has(data), 'nothing is removed that was not acknowledged');
  }

  private check(): void {
    const records = recordsAlongLineage(this.shards.all).flatMap((record) => deaggregate(record));
    const seen = new Map<string, string[]>();
    for (const { partitionKey, data } of deduplicate(records, new SequenceHistory())) {
      seen.set(partitionKey, [...(seen.get(partitionKey) ?? []), Buffer.from(data).toString()]);
    }
    const { committed, rejected } = this.model;
    for (const [key, rows] of seen) {
      const should = committed.get(key) ?? [];
      promise(
        rows.every((row) => should.includes(row)),
        'no row is seen that was not committed',
      );
      promise(new Set(rows).size === rows.length, 'no row is seen twice');
      const inOrder = rows.every((row, index) => index === 0 || should.indexOf(rows[index - 1]!) < should.indexOf(row));
      promise(inOrder, 'each key is seen in the order of its commits');
    }
    const givenUp = new Set(rejected.map(({ data }) => data));
    const missing = [...committed].flatMap(([key, rows]) =>
      rows.filter((row) => !givenUp.has(row) && !seen.get(key)?.includes(row)),
    );
    promise(missing.length === 0, 'every row that was committed is seen');
  }
}

/** Fields of a relay and its producer on which nothing depends: ways to the outside, settings, and counters. */
const NOT_REMEMBERED = new Set([
  'client',
  'clock',
  'counter',
  'last',
  'limiter',
  'limits',
  'options',
  'patience',
  'pollMs',
  'postgres',
  'settings',
  'statistics',
  'summary',
  'time',
  'totals',
]);

const TAKING_OVER = ['locks a range', 'takes a range over', 'forgets what is not covered'];

/** A worker, from its start to its end. */
class Worker {
  readonly stream: StreamInSteps;
  readonly clock: RelayClock;
  private readonly abort = new AbortController();
  private relay!: OutboxRelay;
  private producer!: OrderedProducer;
  private isThere = true;
  /** The statements that have no answer yet: the first is offered, and the others wait for it. */
  private asked: PostgresQuery[] = [];
  private heard: unknown[] = [];
  /** The last position that it has saved, and the last window that it has read. */
  private saved?: unknown;
  private window?: unknown;
  private rotatedAtMs = 0;
  private offers: (() => void)[] = [];
  private readonly fates = new Map<Fate, () => void>();

  constructor(
    private readonly outbox: Outbox,
    private readonly name: string,
  ) {
    const { world, model, bounds } = outbox;
    const hears = (what: unknown): void => {
      this.hear(codesOf(what));
      this.clock.move();
    };
    this.clock = new RelayClock(
      world,
      name,
      {
        reads: this.reads,
        leasesTakeTime: bounds.rotates === true,
        writes: () => model.writes,
        leases: () => model.lockChanges + (bounds.rotates ? model.writes + model.saves : 0),
      },
      (what) => this.hear(what),
    );
    this.stream = new StreamInSteps(world, outbox.faults, {
      shardCount: 1,
      producer: name,
      shards: outbox.shards,
      hears,
    });
  }

  /**
   * All that it does from now on depends on this. What it remembers is in its objects and in the statements that it has asked.
   * Only while it takes a range over, or sends what is parked, functions of it hold what it has heard since then.
   */
  get state(): unknown {
    const { name, relay, producer, clock, heard, abort } = this;
    const memory = memoryText([relay, producer], { skip: NOT_REMEMBERED, queued, nowMs: clock.now() });
    const sinceRotated = Math.min(clock.now() - this.rotatedAtMs, LEASE_MS);
    const asked = this.asked.map((statement) => [OutboxModel.statement(statement).name, statement.values]);
    const held = [this.isQuiet ? [] : heard, this.saved, this.windowAhead, abort.signal.aborted];
    return [name, memory, asked, held, clock.state, sinceRotated];
  }

  private get isQuiet(): boolean {
    return !this.isAsking(...TAKING_OVER) && this.ranges.every(({ parked }) => parked.puts === 0);
  }

  /** The window that was read and is not used up yet. */
  private get windowAhead(): unknown {
    const isAhead = this.ranges.some(({ nextWindow }) => nextWindow !== undefined);
    return (isAhead || this.isAsking('parks')) && this.window;
  }

  private isAsking(...names: readonly string[]): boolean {
    return this.asked.some((statement) => names.includes(OutboxModel.statement(statement).name));
  }

  private get ranges(): { parked: { puts: number }; nextWindow?: unknown }[] {
    const { ranges } = this.relay as unknown as { ranges: Map<number, { relay: Worker['ranges'][number] }> };
    return [...ranges.values()].map(({ relay }) => relay);
  }

  private hear(what: unknown): void {
    if (this.isQuiet) this.heard = [];
    this.heard.push(what);
  }

  /** At any step it may look who holds what, and whether it can rotate. */
  private get reads(): readonly string[] {
    return ['locks', ...(this.outbox.bounds.rotates ? ['ranges', 'transactions', 'messages'] : [])];
  }

  start(): void {
    const { bounds } = this.outbox;
    const producer = new OrderedProducer(this.stream.client, {
      streamName: 'Events',
      aggregation: 'per-key',
      clock: this.clock.ofProducer,
      random: () => 0.5,
      maxAttempts: 2,
    });
    this.producer = producer;
    this.relay = new OutboxRelay(this.session(), this.noting(producer), {
      windowRows: bounds.windowRows,
      maxRowsInFlight: SHARE_OF_A_KEY * bounds.rowsOfAKey,
      ...(bounds.maxTries !== undefined && { maxTries: bounds.maxTries }),
      pollMs: POLL_MS,
      saveMs: SAVE_MS,
      leaseMs: LEASE_MS,
      retryMs: RETRY_MS,
      rotateMs: bounds.rotates ? LEASE_MS : NEVER_MS,
      statementTimeoutMs: STATEMENT_TIMEOUT_MS,
      clock: this.clock,
    });
    this.relay.run({ signal: this.abort.signal }).then(
      () => this.leave(),
      (error) => {
        if (this.isThere) this.outbox.failure ??= error;
      },
    );
  }

  /** From when on it holds a range. */
  private meet(fate: Fate): void {
    if (this.fates.has(fate)) return;
    const { faults, model } = this.outbox;
    const writes = [this.name, ...(fate === 'is told to end' ? [] : ['locks'])];
    const meet = {
      crashes: () => this.leave(),
      'loses its locks': () => {
        model.unlockAll(this.name);
        this.outbox.changed();
      },
      'is told to end': () => {
        this.hear(fate);
        this.abort.abort();
      },
    };
    this.fates.set(fate, faults.offer(`${this.name} ${fate}`, { writes }, meet[fate]));
  }

  /** It is gone, and another comes in its place. */
  private leave(): void {
    if (!this.isThere) return;
    this.isThere = false;
    for (const takeBack of [...this.offers, ...this.fates.values()]) takeBack();
    this.clock.end();
    this.stream.end();
    const { model, workers } = this.outbox;
    model.unlockAll(this.name);
    workers.splice(workers.indexOf(this), 1);
    this.outbox.start(`${this.name}'`);
    this.outbox.changed();
  }

  /** A producer, whose acknowledgements are noted. */
  private noting(producer: OrderedProducer): RecordSink {
    return {
      putAll: (rows, observer) =>
        producer.putAll(rows, {
          ...observer,
          delivered: (receipt, row, position) => {
            this.outbox.acknowledged.add(Buffer.from(row.data).toString());
            observer?.delivered?.(receipt, row, position);
          },
        }),
    };
  }

  private session(): PostgresClient {
    const { world, model, bounds } = this.outbox;
    const query = (statement: PostgresQuery): ReturnType<PostgresClient['query']> => {
      const { name, touches, moves } = OutboxModel.statement(statement);
      const answer = (): ReturnType<OutboxModel['query']> => {
        const said = model.query(this.name, statement);
        if (name === 'takes a range over') for (const fate of bounds.fates) this.meet(fate);
        if (name === 'rotates') this.rotatedAtMs = this.clock.now();
        if (name === 'saves') this.saved = statement.values;
        if (name === 'reads a window') this.window = said.rows;
        if (moves) this.clock.move();
        return said;
      };
      if (touches === undefined) {
        const said = answer();
        this.heard.push(said);
        this.asked.shift();
        return Promise.resolve(said);
      }
      const { reads = [], writes = [] } = touches;
      return new Promise((resolve) => {
        const footprint = { reads: [...reads, ...this.reads], writes: [...writes, this.name] };
        const happen = (): void => {
          const said = answer();
          this.hear(said);
          this.asked.shift();
          resolve(said);
          this.outbox.changed();
        };
        this.offers = [world.offer(`${this.name} ${name}`, footprint, happen)];
      });
    };
    const asks = (statement: PostgresQuery): void => void this.asked.push(statement);
    return { query, asks, on: () => {}, removeListener: () => {} } as PostgresClient;
  }
}

/** Where a session hears of each statement when it is asked: in a database, statements wait for each other out of sight. */
const database = OutboxDatabase.prototype as unknown as { query(statement: PostgresQuery): Promise<unknown> };
const inTurn = database.query;
database.query = function (this: { client: { asks?(statement: PostgresQuery): void } }, statement) {
  this.client.asks?.(statement);
  return inTurn.call(this, statement);
};

/** A progress keeps rows for a while that have ended. */
function queued(object: object): readonly unknown[] | undefined {
  if (object instanceof Fifo) return Array.from({ length: object.length }, (_, index) => object.at(index));
  if (!(object instanceof Progress)) return undefined;
  const { position, steps, first } = object as unknown as { position: unknown; steps: unknown[]; first: number };
  return [position, ...steps.slice(first)];
}

/** What an answer says of each record. Nobody asks for the sequence numbers. */
function codesOf(answer: unknown): unknown {
  return Array.isArray(answer) ? answer.map((result) => result?.ErrorCode) : answer;
}

function base64(data: Uint8Array): string {
  return Buffer.from(data).toString('base64');
}

function promise(isKept: boolean, words: string): void {
  if (!isKept) throw new Error(words);
}
