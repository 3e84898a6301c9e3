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
import { memoryText } from '../memory';
import { stateText } from '../process-inputs';
import { StreamInSteps } from '../producer/stream-in-steps';
import { promise } from '../promise';
import type { Footprint, World } from '../world';
import type { ModelRow, ModelTransaction } from './model-transactions';
import { OutboxModel } from './outbox-model';
import { LEASE_MS, POLL_MS, RETRY_MS, RelayClock, SAVE_MS, STATEMENT_TIMEOUT_MS } from './relay-clock';

export interface OutboxBounds {
  workers: number;
  writers: readonly Writer[];
  /** The number of writers that end before the workers start. */
  ended: number;
  /** The number of rows that an earlier worker parked before it saved its position. @default 0 */
  parkedBefore?: number;
  /** The maximum number of rows in a batch. */
  batchRows: number;
  /** The maximum number of rows of one key in flight. The worker parks further rows of the key. */
  rowsOfAKey: number;
  /** The maximum number of parked keys that a worker remembers. @default 10,000 */
  mostParkedKeys?: number;
  /** Whether a worker waits for the rows in flight of a key before it parks further rows. @default false, which has fewer states */
  isPatient?: boolean;
  /** The number of tries after which the relay moves a row to the table `rejected`. */
  maxTries?: number;
  /** Whether workers rotate the slots and empty them. */
  rotates?: boolean;
  /** The events that can happen to a worker in addition to faults of its requests to Kinesis. */
  fates: readonly Fate[];
  /** Whether an administrator can divide the keys again, into two ranges. */
  divides?: boolean;
  /** Whether connections can stop responding, before or after Postgres has applied the last statement. */
  stopResponding?: boolean;
  /** The number of faults in a run, or the faults in their order. */
  faults: number | readonly string[];
}

/** The actions of a transaction other than puts. The first action gives the transaction an id. */
const ACTS = ['writes elsewhere', 'sets a savepoint', 'rolls back to its savepoint', 'releases its savepoint'] as const;

type Act = (typeof ACTS)[number];

/** A transaction of a writer: its rows, named by key and number, and how it ends. */
interface Writer {
  /** The rows that the writer puts before the workers start. */
  readonly begun?: readonly string[];
  readonly rows: readonly string[];
  readonly ends: 'commit' | 'rollback';
}

/**
 * The events that can happen to a worker: a crash, the loss of its locks, a stop signal, or an abort of its producer.
 * If the last running worker ends, a new worker starts.
 */
type Fate = 'crashes' | 'loses its locks' | 'is stopped' | 'has its producer aborted';

const SHARE_OF_A_KEY = 8;
const NEVER_MS = 2 ** 31 - 1;

/** Workers relay an outbox while writers write to it, and workers start and stop. */
export function outboxScenario(name: string, bounds: OutboxBounds): Scenario {
  const offered = new Set<string>();
  return {
    name,
    play: (world) => new Outbox(world, bounds, offered).play(),
    checkComplete() {
      const { faults } = bounds;
      const wrong = typeof faults === 'number' ? undefined : faults.find((fault) => !offered.has(fault));
      if (wrong !== undefined) throw new Error(`the fault "${wrong}" of the scenario "${name}" cannot happen`);
    },
  };
}

class Outbox {
  readonly faults: Faults | FaultsInOrder;
  readonly acknowledged = new Set<string>();
  /** The number of rejections of each row. */
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
    offered: Set<string>,
  ) {
    const { faults } = bounds;
    this.faults = typeof faults === 'number' ? new Faults(world, faults) : new FaultsInOrder(world, faults, offered);
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
    this.world.setState(() => this.state());
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
    await this.world.untilAllStepsAreTaken();
    if (this.failure !== undefined) throw new Error('no worker fails', { cause: this.failure });
    this.check();
  }

  /** Starts a worker. */
  start(name: string): void {
    const worker = new Worker(this, name);
    this.workers.push(worker);
    this.streams.push(worker.stream);
    worker.start();
  }

  /** All workers are equal at their start, so the first worker can always be the first that locks a range. */
  whenTheFirstHasLocked(worker: Worker, then: () => void): void {
    if (this.firstHasLocked || worker === this.workers[0]) then();
    else this.waitingForTheFirst.push(then);
  }

  hasLocked(): void {
    this.firstHasLocked = true;
    for (const then of this.waitingForTheFirst.splice(0)) then();
  }

  /** Called after each change in the database. */
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

  /** Waits until no other transaction in progress has rows with the key of this row. */
  private async untilFree(number: number, row: string): Promise<void> {
    const name = `writer ${number + 1}`;
    // A transaction gets its id with its first row.
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

  /** Rolls back, and releases the locks of the rows. */
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
    const inFlight = streams
      .flatMap((stream) => [...stream.inFlight])
      .map(([request, { entries, answer }]) => {
        return [request, entries.map(({ Data }) => base64(Data)), answer === undefined ? answer : codesOf(answer)];
      });
    const arrived = [...acknowledged].sort();
    const seen = [...this.seen()].sort();
    return stateText([model.state, workers, faults.rest, arrived, refusals, seen, inFlight.sort(), transactions]);
  }

  /** The rows of each key in order, without duplicates. This is the only part of the stream on which a consumer depends. */
  private seen(): Map<string, string[]> {
    const records = recordsAlongLineage(this.shards.all).flatMap((record) => deaggregate(record));
    const seen = new Map<string, string[]>();
    for (const { partitionKey, data } of withoutDuplicates(records)) {
      seen.set(partitionKey, [...(seen.get(partitionKey) ?? []), Buffer.from(data).toString()]);
    }
    return seen;
  }

  private checkRemoved({ data }: ModelRow): void {
    promise(this.acknowledged.has(data), 'no row is deleted before it is acknowledged');
  }

  wasRefused(data: string): void {
    this.refusals.set(data, (this.refusals.get(data) ?? 0) + 1);
  }

  /** The first rejection does not count as a try, because it does not identify the row that caused the rejection. */
  private checkGivenUp({ data }: ModelRow): void {
    const wasTried = (this.refusals.get(data) ?? 0) > this.bounds.maxTries!;
    promise(wasTried, 'no row is given up before the stream has rejected it as often as configured');
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
      promise(new Set(rows).size === rows.length, 'a reader of the stream finds no row twice');
      const inOrder = rows.every((row, index) => index === 0 || should.indexOf(rows[index - 1]!) < should.indexOf(row));
      promise(inOrder, 'a reader of the stream finds the rows of each key in the order of their commits');
    }
    const givenUp = new Set(rejected.map(({ data }) => data));
    const missing = [...committed].flatMap(([key, rows]) =>
      rows.filter((row) => !givenUp.has(row) && !seen.get(key)?.includes(row)),
    );
    promise(missing.length === 0, 'a reader of the stream finds every committed row');
  }
}

/** Fields of a relay and its producer that no later step depends on: clients, settings and counters. */
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

const TAKING_OVER = ['locks a range', 'takes a range over', 'deletes what is not covered'];

/** The statements whose responses are in local variables while a range is taken over or parked rows are sent. */
const HELD = new Set([...TAKING_OVER, 'reads parked rows', 'removes parked rows', 'counts a try', 'gives a row up']);

/** The private fields of a range that belong to the state of its worker. */
interface InsideOfARange {
  parked: { puts: number };
  nextBatch?: unknown;
  newRows: { range: { number: number }; statements: { connection: { pending: { query: PostgresQuery }[] } } };
}

/** A worker from its start to its end. */
class Worker {
  readonly stream: StreamInSteps;
  readonly clock: RelayClock;
  private readonly abort = new AbortController();
  private readonly abortOfProducer = new AbortController();
  private relay!: OutboxRelay;
  private producer!: OrderedProducer;
  private isThere = true;
  private isSilent = false;
  /** The statement that has no response yet. Other statements can wait for this statement. */
  private pending?: PostgresQuery;
  private received: unknown[] = [];
  /** The last saved position and the last batch. */
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
    const onResponse = (): void => {
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
      onResponse,
    });
  }

  /**
   * The state of the worker: the content of its objects and its pending statements. Local variables with responses
   * exist only while the worker takes a range over or sends parked rows.
   */
  get state(): unknown {
    const { name, relay, producer, clock, received, abort } = this;
    const memory = memoryText([relay, producer], { skip: NOT_REMEMBERED, queued, nowMs: clock.now() });
    const sinceRotated = Math.min(clock.now() - this.rotatedAtMs, LEASE_MS);
    const pending = this.pending && statementText(this.pending);
    const held = [this.isQuiet ? [] : received, this.saved, this.batchAhead, abort.signal.aborted, this.isSilent];
    return [name, memory, pending, held, clock.state, sinceRotated];
  }

  private get isQuiet(): boolean {
    return !this.isAsking(...TAKING_OVER) && this.ranges.every(({ parked }) => parked.puts === 0);
  }

  /** The part of the last batch that is not processed yet. */
  private get batchAhead(): unknown {
    const isAhead = this.ranges.some(({ nextBatch }) => nextBatch !== undefined);
    return (isAhead || this.isAsking('parks')) && this.batch;
  }

  private isAsking(...names: readonly string[]): boolean {
    const waiting = this.ranges.flatMap(({ newRows }) =>
      newRows.statements.connection.pending.map(({ query }) => query),
    );
    return [this.pending, ...waiting].some((query) => query && names.includes(OutboxModel.statement(query).name));
  }

  private get ranges(): InsideOfARange[] {
    const { ranges } = this.relay as unknown as { ranges: Map<number, { relay: InsideOfARange }> };
    return [...ranges.values()].map(({ relay }) => relay);
  }

  /** The ranges in the memory of the worker. */
  private get heldRanges(): number[] {
    return this.ranges.map(({ newRows }) => newRows.range.number);
  }

  /** Forgets the received responses, if the worker needs none of them any more. */
  private goOn(): void {
    if (this.isQuiet) this.received = [];
  }

  /** The data that each step of the worker reads. With rotations, each step can start a wait for an empty slot. */
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

  /** Offers the event when the worker holds a range. */
  private meet(fate: Fate): void {
    if (this.fates.has(fate)) return;
    const { faults, model } = this.outbox;
    // A session that loses its locks gets no notice.
    const writes = fate === 'loses its locks' ? ['locks'] : [this.name, 'locks'];
    const meet = {
      crashes: () => this.leave(),
      'loses its locks': () => {
        model.unlockAll(this.name);
        this.outbox.changed();
      },
      'is stopped': () => {
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

  /** Ends the worker. A new worker starts if no other worker is running. */
  private leave(): void {
    if (!this.isThere) return;
    this.isThere = false;
    for (const takeBack of [...this.offers, ...this.fates.values()]) takeBack();
    this.clock.end();
    this.stream.end();
    const { workers, world } = this.outbox;
    workers.splice(workers.indexOf(this), 1);
    if (this.isSilent) world.offer(`${this.name} loses its session`, { writes: ['locks'] }, () => this.endSession());
    else this.endSession();
    if (workers.length === 0) this.outbox.start(`${this.name}'`);
  }

  private endSession(): void {
    this.outbox.model.unlockAll(this.name);
    this.outbox.changed();
  }

  /** A producer that records its acknowledgements and rejections. */
  private noting(producer: OrderedProducer): RecordSink {
    return {
      putAll: (rows, observer) =>
        producer.putAll(rows, {
          ...observer,
          delivered: (index, row, receipt) => {
            this.outbox.acknowledged.add(Buffer.from(row.data).toString());
            if ('tries' in row) this.received.push(['delivered', row.data]);
            observer?.delivered?.(index, row, receipt);
          },
          rejected: (index, row, error) => {
            if ('tries' in row) this.received.push(['rejected', row.data]);
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
        const response = model.query(this.name, statement);
        if (name === 'locks a range') this.outbox.hasLocked();
        if (name === 'takes a range over') for (const fate of bounds.fates) this.meet(fate);
        if (name === 'rotates') this.rotatedAtMs = this.clock.now();
        if (name === 'saves') this.saved = statement.values;
        if (name === 'reads a batch') this.batch = response.rows;
        if (moves) this.clock.move();
        return response;
      };
      if (touches === undefined) {
        const response = answer();
        this.received.push(response);
        return Promise.resolve(response);
      }
      this.pending = statement;
      const { reads = [], writes = [] } = touches;
      return new Promise((resolve) => {
        const parked = readsParked?.(statement.values ?? []) ? ['parked'] : [];
        const footprint = { reads: [...reads, ...parked, ...this.reads], writes: [...writes, this.name] };
        const end = (happen: () => void) => (): void => {
          for (const takeBack of this.offers.splice(0)) takeBack();
          happen();
          this.outbox.changed();
        };
        const receive = (): void => {
          const response = answer();
          this.goOn();
          if (HELD.has(name)) this.received.push(response);
          this.pending = undefined;
          resolve(response);
        };
        const offer = (): void => {
          this.offers = [
            world.offer(`${this.name} ${name}`, footprint, end(receive)),
            ...(bounds.stopResponding ? this.silences(name, footprint, end, answer) : []),
          ];
        };
        if (name === 'locks a range') this.outbox.whenTheFirstHasLocked(this, offer);
        else offer();
      });
    };
    return { query, on: () => {}, removeListener: () => {} };
  }

  /** Makes the connection stop responding, before or after Postgres has applied the statement. */
  private silences(
    name: string,
    footprint: Footprint,
    end: (happen: () => void) => () => void,
    apply: () => unknown,
  ): (() => void)[] {
    const { faults } = this.outbox;
    const becomeSilent = (): void => {
      this.isSilent = true;
      this.clock.waitInVain();
    };
    const applied = (): void => {
      apply();
      becomeSilent();
    };
    return [
      faults.offer(`${this.name} ${name}, and receives no response`, footprint, end(applied)),
      faults.offer(`${this.name} stops receiving responses before it ${name}`, footprint, end(becomeSilent)),
    ];
  }
}

function statementText(statement: PostgresQuery): unknown {
  return [OutboxModel.statement(statement).name, statement.values];
}

/**
 * Returns the part of an object on which later steps depend: the elements of a queue, the statement of a connection, or
 * the rows of a progress that have not ended.
 */
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

/** The error codes of a response, without sequence numbers, which are not used. */
function codesOf(answer: unknown): unknown {
  return Array.isArray(answer) ? answer.map((result) => result?.ErrorCode) : answer;
}

function base64(data: Uint8Array): string {
  return Buffer.from(data).toString('base64');
}

function isAct(word: string): word is Act {
  return ACTS.some((act) => act === word);
}
