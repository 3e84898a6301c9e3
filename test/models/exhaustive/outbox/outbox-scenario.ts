import { deaggregate, OrderedProducer, RecordRejectedError } from '../../../../lib/core';
import { Fifo } from '../../../../lib/core/kernel/fifo';
import { OutboxRelay, type PostgresClient, type PostgresQuery, type RecordSink } from '../../../../lib/core/outbox';
import { Progress } from '../../../../lib/core/outbox/progress';
import type { TunedRelayOptions } from '../../../../lib/core/outbox/relay-options';
import { uniformRanges } from '../../../../lib/core/stream-format/hash-key-ranges';
import { recordsAlongLineage } from '../../../../lib/testing/fake-shard';
import { FakeShards } from '../../../../lib/testing/fake-shards';
import { withoutDuplicates } from '../../../support/without-duplicates';
import type { Scenario } from '../explore';
import { Faults, FaultsInOrder } from '../faults';
import { stateText } from '../heard';
import { memoryText } from '../memory';
import { StreamInSteps } from '../producer/stream-in-steps';
import type { Footprint, World } from '../world';
import type { ModelRow, ModelTransaction } from './model-transactions';
import { OutboxModel } from './outbox-model';
import { LEASE_MS, POLL_MS, RETRY_MS, RelayClock, SAVE_MS, STATEMENT_TIMEOUT_MS } from './relay-clock';

export interface OutboxBounds {
  workers: number;
  writers: readonly Writer[];
  /** How many of the writers have ended when the workers start. */
  ended: number;
  /** How many rows an earlier worker has parked, and saved that. @default 0 */
  parkedBefore?: number;
  /** How many rows a batch has. */
  batchRows: number;
  /** How many rows of a key the producer may have before the others are parked. */
  rowsOfAKey: number;
  /** How many parked keys a worker remembers. @default 10,000 */
  mostParkedKeys?: number;
  /** Whether workers wait for a key that has its rows, before they park. @default false: there are fewer states */
  isPatient?: boolean;
  /** After how many tries a row is given up. */
  maxTries?: number;
  /** Whether slots are emptied. */
  rotates?: boolean;
  /** What becomes of workers, besides what becomes of their requests to Kinesis. */
  fates: readonly Fate[];
  /** Whether an administrator can divide the keys anew, among two ranges. */
  divides?: boolean;
  /** Whether connections can fall silent, with the last statement applied or not. */
  fallSilent?: boolean;
  /** So many things go wrong in a run, or these in this order. */
  faults: number | readonly string[];
}

/** What a transaction does besides putting rows: the first gives it an id, if it has none. */
const ACTS = ['writes elsewhere', 'sets a savepoint', 'rolls back to its savepoint', 'releases its savepoint'] as const;

type Act = (typeof ACTS)[number];

/** What a writer does in one transaction, row by row, each named by its key and its number, and how it ends. */
interface Writer {
  /** What it has put when the workers start. */
  readonly begun?: readonly string[];
  readonly rows: readonly string[];
  readonly ends: 'commit' | 'rollback';
}

/**
 * A worker is gone at once; it loses its locks, and goes on as if it held them; it is told to end; its producer is aborted.
 * In the place of the last one comes another.
 */
type Fate = 'crashes' | 'loses its locks' | 'is told to end' | 'has its producer aborted';

const SHARE_OF_A_KEY = 8;
const NEVER_MS = 2 ** 31 - 1;

/** Workers relay an outbox, while writers write to it, and workers come and go. */
export function outboxScenario(name: string, bounds: OutboxBounds): Scenario {
  return { name, play: (world) => new Outbox(world, bounds).play() };
}

class Outbox {
  readonly faults: Faults | FaultsInOrder;
  readonly acknowledged = new Set<string>();
  /** How often the stream has refused a row. */
  readonly refusals = new Map<string, number>();
  readonly shards = new FakeShards(uniformRanges(1), undefined, () => 0);
  readonly model: OutboxModel;
  readonly workers: Worker[] = [];
  failure?: Error;
  private readonly streams: StreamInSteps[] = [];
  private readonly transactions = new Map<number, ModelTransaction>();
  private firstHasLocked = false;
  private readonly waitingForTheFirst: (() => void)[] = [];

  constructor(
    readonly world: World,
    readonly bounds: OutboxBounds,
  ) {
    const { faults } = bounds;
    this.faults = typeof faults === 'number' ? new Faults(world, faults) : new FaultsInOrder(world, faults);
    this.model = new OutboxModel({
      // All keys belong to the last range.
      bucketOf: () => 4_095,
      onRemoved: (row) => this.checkRemoved(row),
      onMissing: () => promise(false, 'a verification misses no row'),
      onGivenUp: (row) => this.checkGivenUp(row),
    });
  }

  async play(): Promise<void> {
    const { writers, ended, workers } = this.bounds;
    this.world.says(() => this.state());
    writers.slice(0, ended).forEach(({ rows, ends }, number) => {
      for (const row of rows) this.put(number, row);
      this.end(number, ends);
    });
    this.model.parkFirst(this.bounds.parkedBefore ?? 0);
    writers.forEach(({ begun = [] }, number) => {
      for (const row of begun) this.put(number, row);
    });
    const writing = writers.slice(ended).map((writer, index) => this.write(ended + index, writer));
    for (let number = 1; number <= workers; number++) this.start(`worker ${number}`);
    if (this.bounds.divides)
      this.faults.offer('an administrator divides', { writes: ['locks', 'ranges'] }, () => this.divide());
    await this.world.until(Promise.all(writing));
    await this.world.untilNothingIsLeft();
    if (this.failure !== undefined) throw new Error('no worker fails', { cause: this.failure });
    this.check();
  }

  /** A worker begins, or another in its place. */
  start(name: string): void {
    const worker = new Worker(this, name);
    this.workers.push(worker);
    this.streams.push(worker.stream);
    worker.start();
  }

  /** Workers are alike when they start, so the first of them is the one that locks a range first. */
  whenTheFirstHasLocked(worker: Worker, then: () => void): void {
    if (this.firstHasLocked || worker === this.workers[0]) then();
    else this.waitingForTheFirst.push(then);
  }

  hasLocked(): void {
    this.firstHasLocked = true;
    for (const then of this.waitingForTheFirst.splice(0)) then();
  }

  /** Something has changed in the database. */
  changed(): void {
    for (const worker of this.workers) worker.clock.reconsider();
  }

  private divide(): void {
    this.model.divide(2);
    this.changed();
  }

  private async write(number: number, { rows, ends }: Writer): Promise<void> {
    const name = `writer ${number + 1}`;
    for (const row of rows) {
      if (isAct(row)) await this.world.answer(`${name} ${row}`, { writes: [name, 'transactions'] });
      else await this.untilFree(number, row);
      this.put(number, row);
    }
    await this.world.answer(`${name} ends`, { writes: [name, 'numbers', 'transactions', 'messages'] });
    this.end(number, ends);
    this.changed();
  }

  /** A put waits for the transactions that have put rows of its key before. */
  private async untilFree(number: number, row: string): Promise<void> {
    const name = `writer ${number + 1}`;
    // The first row of a transaction gives it its id.
    const begins = this.hasId(number) ? [] : ['transactions'];
    do await this.world.answer(`${name} puts ${row}`, { writes: [name, 'numbers', ...begins] });
    while (this.model.transactions.isLocked(row[0]!, this.transactions.get(number)) && (await this.anotherEnds()));
  }

  private async anotherEnds(): Promise<true> {
    await new Promise<void>((resolve) => this.waiting.push(resolve));
    return true;
  }

  private waiting: (() => void)[] = [];

  private hasId(number: number): boolean {
    return this.transactions.get(number)?.levels.every(({ xid }) => xid !== undefined) ?? false;
  }

  private put(number: number, row: string): void {
    const { transactions } = this.model;
    const own = this.transactions.get(number) ?? transactions.begin();
    this.transactions.set(number, own);
    if (!isAct(row)) this.model.put(own, row[0]!, row);
    else if (row === 'writes elsewhere') transactions.write(own);
    else if (row === 'sets a savepoint') transactions.savepoint(own);
    else if (row === 'releases its savepoint') transactions.release(own);
    else this.rollBack(own);
    this.changed();
  }

  /** Gives the locks of its rows back, too. */
  private rollBack(own: ModelTransaction): void {
    this.model.transactions.rollBack(own);
    for (const resolve of this.waiting.splice(0)) resolve();
  }

  private end(number: number, ends: 'commit' | 'rollback'): void {
    this.model.end(this.transactions.get(number)!, ends);
    this.transactions.delete(number);
    for (const resolve of this.waiting.splice(0)) resolve();
  }

  private state(): string {
    const { model, faults, acknowledged, refusals, streams, transactions } = this;
    const workers = this.workers.map((worker) => worker.state).sort();
    const underWay = streams
      .flatMap((stream) => [...stream.underWay])
      .map(([request, { entries, answer }]) => {
        return [request, entries.map(({ Data }) => base64(Data)), answer === undefined ? answer : codesOf(answer)];
      });
    const arrived = [...acknowledged].sort();
    const seen = [...this.seen()].sort();
    return stateText([model.state, workers, faults.rest, arrived, refusals, seen, underWay.sort(), transactions]);
  }

  /** What a consumer sees of each key, in order, without repeats. What it will see depends on nothing else in the stream. */
  private seen(): Map<string, string[]> {
    const records = recordsAlongLineage(this.shards.all).flatMap((record) => deaggregate(record));
    const seen = new Map<string, string[]>();
    for (const { partitionKey, data } of withoutDuplicates(records)) {
      seen.set(partitionKey, [...(seen.get(partitionKey) ?? []), Buffer.from(data).toString()]);
    }
    return seen;
  }

  private checkRemoved({ data }: ModelRow): void {
    promise(this.acknowledged.has(data), 'nothing is removed that was not acknowledged');
  }

  wasRefused(data: string): void {
    this.refusals.set(data, (this.refusals.get(data) ?? 0) + 1);
  }

  /** The first refusal is no try: it does not say which of several rows is to blame. */
  private checkGivenUp({ data }: ModelRow): void {
    const wasTried = (this.refusals.get(data) ?? 0) > this.bounds.maxTries!;
    promise(wasTried, 'no row is given up that the stream has not refused so often');
  }

  private check(): void {
    const seen = this.seen();
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
  'limit',
  'limiter',
  'limits',
  'options',
  'ordinal',
  'pollMs',
  'postgres',
  'prepared',
  'settings',
  'statistics',
  'summary',
  'texts',
  'time',
  'totals',
]);

const TAKING_OVER = ['locks a range', 'takes a range over', 'forgets what is not covered'];

/** What functions that take a range over, or send what is parked, hold the answers of. */
const HELD = new Set([...TAKING_OVER, 'reads parked rows', 'removes parked rows', 'counts a try', 'gives a row up']);

/** What a state needs to know of a range that a worker holds. */
interface InsideOfARange {
  parked: { puts: number };
  nextBatch?: unknown;
  newRows: { range: { number: number }; statements: { connection: { pending: { query: PostgresQuery }[] } } };
}

/** A worker, from its start to its end. */
class Worker {
  readonly stream: StreamInSteps;
  readonly clock: RelayClock;
  private readonly abort = new AbortController();
  private readonly abortOfProducer = new AbortController();
  private relay!: OutboxRelay;
  private producer!: OrderedProducer;
  private isThere = true;
  private isSilent = false;
  /** The statement that has no answer yet. Others may wait for it. */
  private asked?: PostgresQuery;
  private heard: unknown[] = [];
  /** The last position that it has saved, and the last batch that it has read. */
  private saved?: unknown;
  private batch?: unknown;
  private rotatedAtMs = 0;
  private offers: (() => void)[] = [];
  private readonly fates = new Map<Fate, () => void>();

  constructor(
    private readonly outbox: Outbox,
    private readonly name: string,
  ) {
    const { world, model, bounds } = outbox;
    const hears = (): void => {
      this.goOn();
      this.clock.move();
    };
    this.clock = new RelayClock(
      world,
      name,
      {
        reads: this.reads,
        rotates: bounds.rotates === true,
        isPatient: bounds.isPatient === true,
        writes: () => model.transactions.writes,
        leasesShowNews: () => model.isUnbalanced(name, this.heldRanges) || (bounds.rotates === true && model.canRotate),
      },
      () => this.goOn(),
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
   * Only while it takes a range over, or sends what is parked, functions of it hold what they have heard of that.
   */
  get state(): unknown {
    const { name, relay, producer, clock, heard, abort } = this;
    const memory = memoryText([relay, producer], { skip: NOT_REMEMBERED, queued, nowMs: clock.now() });
    const sinceRotated = Math.min(clock.now() - this.rotatedAtMs, LEASE_MS);
    const asked = this.asked && statementText(this.asked);
    const held = [this.isQuiet ? [] : heard, this.saved, this.batchAhead, abort.signal.aborted, this.isSilent];
    return [name, memory, asked, held, clock.state, sinceRotated];
  }

  private get isQuiet(): boolean {
    return !this.isAsking(...TAKING_OVER) && this.ranges.every(({ parked }) => parked.puts === 0);
  }

  /** The batch that was read and is not used up yet. */
  private get batchAhead(): unknown {
    const isAhead = this.ranges.some(({ nextBatch }) => nextBatch !== undefined);
    return (isAhead || this.isAsking('parks')) && this.batch;
  }

  private isAsking(...names: readonly string[]): boolean {
    const waiting = this.ranges.flatMap(({ newRows }) =>
      newRows.statements.connection.pending.map(({ query }) => query),
    );
    return [this.asked, ...waiting].some((query) => query && names.includes(OutboxModel.statement(query).name));
  }

  private get ranges(): InsideOfARange[] {
    const { ranges } = this.relay as unknown as { ranges: Map<number, { relay: InsideOfARange }> };
    return [...ranges.values()].map(({ relay }) => relay);
  }

  /** Those that it believes it holds. */
  private get heldRanges(): number[] {
    return this.ranges.map(({ newRows }) => newRows.range.number);
  }

  /** Something happens to it. */
  private goOn(): void {
    if (this.isQuiet) this.heard = [];
  }

  /** At any step it may begin to wait until it can empty a slot. */
  private get reads(): readonly string[] {
    return this.outbox.bounds.rotates ? ['ranges', 'transactions', 'messages'] : [];
  }

  start(): void {
    const { bounds } = this.outbox;
    const producer = new OrderedProducer(this.stream.client, {
      streamName: 'Events',
      aggregation: 'per-key',
      clock: this.clock.ofProducer,
      random: () => 0.5,
      maxAttempts: 2,
      signal: this.abortOfProducer.signal,
    });
    this.producer = producer;
    const options: TunedRelayOptions = {
      batchRows: bounds.batchRows,
      maxRowsInFlight: SHARE_OF_A_KEY * bounds.rowsOfAKey,
      ...(bounds.maxTries !== undefined && { maxTries: bounds.maxTries }),
      pollMs: POLL_MS,
      saveMs: SAVE_MS,
      leaseMs: LEASE_MS,
      retryMs: RETRY_MS,
      rotateMs: bounds.rotates ? LEASE_MS : NEVER_MS,
      ...(bounds.mostParkedKeys !== undefined && { mostParkedKeys: bounds.mostParkedKeys }),
      statementTimeoutMs: STATEMENT_TIMEOUT_MS,
      clock: this.clock,
    };
    this.relay = new OutboxRelay(this.session(), this.noting(producer), options);
    this.relay.run({ signal: this.abort.signal }).then(
      () => this.leave(),
      (error) => {
        if (this.isSilent || this.abortOfProducer.signal.aborted) this.leave();
        else if (this.isThere) this.outbox.failure ??= error;
      },
    );
  }

  /** From when on it holds a range. */
  private meet(fate: Fate): void {
    if (this.fates.has(fate)) return;
    const { faults, model } = this.outbox;
    // A session that loses its locks hears nothing of it.
    const writes = fate === 'loses its locks' ? ['locks'] : [this.name, 'locks'];
    const meet = {
      crashes: () => this.leave(),
      'loses its locks': () => {
        model.unlockAll(this.name);
        this.outbox.changed();
      },
      'is told to end': () => {
        this.goOn();
        this.abort.abort();
      },
      'has its producer aborted': () => {
        this.goOn();
        this.abortOfProducer.abort();
      },
    };
    this.fates.set(fate, faults.offer(`${this.name} ${fate}`, { writes }, meet[fate]));
  }

  /** It is gone. Another comes in its place, unless there is one. */
  private leave(): void {
    if (!this.isThere) return;
    this.isThere = false;
    for (const takeBack of [...this.offers, ...this.fates.values()]) takeBack();
    this.clock.end();
    this.stream.end();
    const { workers, world } = this.outbox;
    workers.splice(workers.indexOf(this), 1);
    if (this.isSilent)
      world.offer(`${this.name} is missed by Postgres`, { writes: ['locks'] }, () => this.endSession());
    else this.endSession();
    if (workers.length === 0) this.outbox.start(`${this.name}'`);
  }

  private endSession(): void {
    this.outbox.model.unlockAll(this.name);
    this.outbox.changed();
  }

  /** A producer, whose acknowledgements and refusals are noted. */
  private noting(producer: OrderedProducer): RecordSink {
    return {
      putAll: (rows, observer) =>
        producer.putAll(rows, {
          ...observer,
          delivered: (index, row, receipt) => {
            this.outbox.acknowledged.add(Buffer.from(row.data).toString());
            if ('tries' in row) this.heard.push(['delivered', row.data]);
            observer?.delivered?.(index, row, receipt);
          },
          rejected: (index, row, error) => {
            if ('tries' in row) this.heard.push(['rejected', row.data]);
            if (error instanceof RecordRejectedError) this.outbox.wasRefused(Buffer.from(row.data).toString());
            observer?.rejected?.(index, row, error);
          },
        }),
    };
  }

  private session(): PostgresClient {
    const { world, model, bounds } = this.outbox;
    const query = (statement: PostgresQuery): ReturnType<PostgresClient['query']> => {
      const { name, touches, moves, readsParked } = OutboxModel.statement(statement);
      const answer = (): ReturnType<OutboxModel['query']> => {
        const said = model.query(this.name, statement);
        if (name === 'locks a range') this.outbox.hasLocked();
        if (name === 'takes a range over') for (const fate of bounds.fates) this.meet(fate);
        if (name === 'rotates') this.rotatedAtMs = this.clock.now();
        if (name === 'saves') this.saved = statement.values;
        if (name === 'reads a batch') this.batch = said.rows;
        if (moves) this.clock.move();
        return said;
      };
      if (touches === undefined) {
        const said = answer();
        this.heard.push(said);
        return Promise.resolve(said);
      }
      this.asked = statement;
      const { reads = [], writes = [] } = touches;
      return new Promise((resolve) => {
        const parked = readsParked?.(statement.values ?? []) ? ['parked'] : [];
        const footprint = { reads: [...reads, ...parked, ...this.reads], writes: [...writes, this.name] };
        const end = (happen: () => void) => (): void => {
          for (const takeBack of this.offers.splice(0)) takeBack();
          happen();
          this.outbox.changed();
        };
        const hear = (): void => {
          const said = answer();
          this.goOn();
          if (HELD.has(name)) this.heard.push(said);
          this.asked = undefined;
          resolve(said);
        };
        const offer = (): void => {
          this.offers = [
            world.offer(`${this.name} ${name}`, footprint, end(hear)),
            ...(bounds.fallSilent ? this.silences(name, footprint, end, answer) : []),
          ];
        };
        if (name === 'locks a range') this.outbox.whenTheFirstHasLocked(this, offer);
        else offer();
      });
    };
    return { query, on: () => {}, removeListener: () => {} };
  }

  /** The connection falls silent, with the statement applied or not. */
  private silences(
    name: string,
    footprint: Footprint,
    end: (happen: () => void) => () => void,
    apply: () => unknown,
  ): (() => void)[] {
    const { faults } = this.outbox;
    const fallSilent = (): void => {
      this.isSilent = true;
      this.clock.waitInVain();
    };
    const applied = (): void => {
      apply();
      fallSilent();
    };
    return [
      faults.offer(`${this.name} ${name}, and hears nothing of it`, footprint, end(applied)),
      faults.offer(`${this.name} falls silent before it ${name}`, footprint, end(fallSilent)),
    ];
  }
}

function statementText(statement: PostgresQuery): unknown {
  return [OutboxModel.statement(statement).name, statement.values];
}

/** A queue may hold the same items in different arrays, a progress keeps for a while what has left it, and a connection the texts of what it was asked. */
function queued(object: object): readonly unknown[] | undefined {
  if (object instanceof Fifo) {
    const { leaving, arrived } = object as unknown as { leaving: unknown[]; arrived: unknown[] };
    return [...leaving.toReversed(), ...arrived];
  }
  if ('query' in object && 'resolve' in object) return [statementText(object.query as PostgresQuery)];
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

function isAct(word: string): word is Act {
  return ACTS.some((act) => act === word);
}

function promise(isKept: boolean, words: string): void {
  if (!isKept) throw new Error(words);
}
