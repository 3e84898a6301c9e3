import { deaggregate, deduplicate, OrderedProducer, SequenceHistory } from '../../../lib/core';
import { uniformRanges } from '../../../lib/core/foundation/hash-key-ranges';
import { OutboxRelay, type PostgresClient, type PostgresQuery, type RecordSink } from '../../../lib/core/outbox';
import { recordsAlongLineage } from '../../../lib/testing/fake-shard';
import { ShardMap } from '../../../lib/testing/shard-map';
import type { Scenario } from '../explore';
import { Faults } from '../faults';
import { Heard, stateText } from '../heard';
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
  return { name, prunesByStatesOnly: true, play: (world) => new Outbox(world, bounds).play() };
}

class Outbox {
  readonly heard = new Heard();
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
    const { model, heard, faults, acknowledged, shards, streams, transactions } = this;
    const stored = shards.all.map(({ records }) => records.map(({ data }) => Buffer.from(data).toString('base64')));
    const underWay = streams
      .flatMap((stream) => [...stream.underWay])
      .map(([request, { entries, answer }]) => [
        request,
        entries.map(({ Data }) => Buffer.from(Data).toString('base64')),
        answer,
      ]);
    return stateText([model.state, heard.all(), faults.rest, [...acknowledged].sort(), stored, underWay, transactions]);
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

/** A worker, from its start to its end. */
class Worker {
  readonly stream: StreamInSteps;
  readonly clock: RelayClock;
  private readonly abort = new AbortController();
  private isThere = true;
  private statements = 0;
  private offers: (() => void)[] = [];
  private readonly fates = new Map<Fate, () => void>();

  constructor(
    private readonly outbox: Outbox,
    private readonly name: string,
  ) {
    const { world, model, bounds } = outbox;
    const hears = (what: unknown): void => {
      outbox.heard.hear(name, what);
      this.clock.move();
    };
    this.clock = new RelayClock(
      world,
      name,
      {
        writes: () => model.writes,
        leases: () => model.lockChanges + (bounds.rotates ? model.writes + model.saves : 0),
      },
      (what) => outbox.heard.hear(name, what),
    );
    this.stream = new StreamInSteps(world, outbox.faults, {
      shardCount: 1,
      producer: name,
      shards: outbox.shards,
      hears,
    });
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
    const relay = new OutboxRelay(this.session(), this.noting(producer), {
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
    relay.run({ signal: this.abort.signal }).then(
      () => this.leave(),
      (error) => {
        if (this.isThere) this.outbox.failure ??= error;
      },
    );
  }

  /** From when on it holds a range. */
  private meet(fate: Fate): void {
    if (this.fates.has(fate)) return;
    const { faults, model, heard } = this.outbox;
    const writes = [this.name, ...(fate === 'is told to end' ? [] : ['locks'])];
    const meet = {
      crashes: () => this.leave(),
      'loses its locks': () => {
        model.unlockAll(this.name);
        this.outbox.changed();
      },
      'is told to end': () => {
        heard.hear(this.name, fate);
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
    const { model, heard, workers } = this.outbox;
    model.unlockAll(this.name);
    heard.forget(this.name);
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
    const { world, model, bounds, heard } = this.outbox;
    const query = (statement: PostgresQuery): ReturnType<PostgresClient['query']> => {
      const { name, touches, moves } = OutboxModel.statement(statement);
      const answer = (): ReturnType<OutboxModel['query']> => {
        const said = model.query(this.name, statement);
        if (name === 'takes a range over') for (const fate of bounds.fates) this.meet(fate);
        heard.hear(this.name, said);
        if (moves) this.clock.move();
        return said;
      };
      if (touches === undefined) return Promise.resolve(answer());
      const { reads = [], writes = [] } = touches;
      return new Promise((resolve) => {
        const step = `${this.name} ${name} ${++this.statements}`;
        const happen = (): void => {
          resolve(answer());
          this.outbox.changed();
        };
        this.offers = [world.offer(step, { reads, writes: [...writes, this.name] }, happen)];
      });
    };
    return { query, on: () => {}, removeListener: () => {} };
  }
}

function promise(isKept: boolean, words: string): void {
  if (!isKept) throw new Error(words);
}
