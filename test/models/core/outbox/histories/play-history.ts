import { inspect } from 'node:util';
import { type Client, Client as PgClient } from 'pg';
import { deaggregate, OrderedProducer, type PutRecordsClient } from '../../../../../lib/core';
import { systemClock } from '../../../../../lib/core/kernel/clock';
import { OutboxRelay, outboxMigrationsOf, type PostgresPool, type PostgresQuery } from '../../../../../lib/core/outbox';
import { FakeKinesis } from '../../../../../lib/testing/fake-kinesis';
import { VirtualClock } from '../../../../../lib/testing/virtual-clock';
import { tuned } from '../../../../support/postgres/tuned';
import { withoutDuplicates } from '../../../../support/without-duplicates';
import { Gate, settled } from './gate';
import { type History, historyOf, type Transaction } from './history';

const MAX_WRITERS = 4;

/** The stream of a relay without topics. */
const EVERY_TOPIC = '';

/** The maximum number of steps without faults. The retries of Kinesis requests and the polls of a relay need far fewer steps. */
const MAX_CALM_STEPS = 6_000;

/** If a statement of a writer takes longer than this, the test assumes that it waits for a lock. */
const BLOCKED_MS = 20;

/**
 * A timeout in real time, for slow machines. A statement of a worker never waits for a later step, so only an error
 * makes it take this long.
 */
const PATIENCE_MS = 60_000;

/** The timeout of a statement, on the clock of the workers. */
const STATEMENT_TIMEOUT_MS = 500;

/** Plays histories one after another on a real Postgres server, and checks the rows that a consumer sees. */
export class HistoryPlayer {
  private writers: Client[] = [];
  private admin!: Client;

  private constructor(private readonly url: string) {}

  static async start(url: string): Promise<HistoryPlayer> {
    const player = new HistoryPlayer(url);
    player.admin = await connect(url);
    player.writers = await Promise.all(Array.from({ length: MAX_WRITERS }, () => connect(url)));
    await player.admin.query('DROP SCHEMA IF EXISTS outbox CASCADE');
    for (const { sql } of outboxMigrationsOf('outbox')) await player.admin.query(sql);
    return player;
  }

  async end(): Promise<void> {
    await Promise.all([this.admin, ...this.writers].map((client) => client.end()));
  }

  /** @throws if the rows of the consumer differ from the committed rows */
  async play(seed: number): Promise<Play> {
    const history = historyOf(seed);
    await this.admin.query('TRUNCATE outbox.message, outbox.parked, outbox.rejected');
    await this.admin.query('SELECT outbox.divide($1)', [history.ranges]);
    await this.admin.query("UPDATE outbox.range SET batch_from = '3:3:', batch_to = NULL, after_id = 0");
    const play = new Play(history, this.url, this.admin, this.writers);
    try {
      await play.run();
    } finally {
      await play.cleanUp();
    }
    return play;
  }
}

async function connect(url: string, name?: string): Promise<Client> {
  const client = new PgClient({ connectionString: url, application_name: name });
  client.on('error', () => {});
  await client.connect();
  return client;
}

type PooledClient = Awaited<ReturnType<PostgresPool['connect']>>;

/** Runs an action of a worker through the gate. */
type Pass = <T>(act: () => Promise<T>) => Promise<T>;

/** A running worker, with the objects to kill it. */
interface Worker {
  readonly name: string;
  readonly abort: AbortController;
  readonly connections: Client[];
  failure?: Error;
  hasEnded: boolean;
}

class Play {
  /** The stream of each topic. */
  private readonly streams = new Map<string, FakeKinesis>();
  readonly counts = {
    steps: 0,
    rows: 0,
    stops: 0,
    crashes: 0,
    disconnects: 0,
    silences: 0,
    stolenLeases: 0,
    divisions: 0,
    restores: 0,
    repeats: 0,
    givenUp: 0,
  };
  private readonly gate = new Gate();
  private readonly workers: Worker[] = [];
  private workersStarted = 0;
  /** The committed rows of each key of a topic in the order of commits. */
  private readonly committed = new Map<string, string[]>();
  /** Requests that Kinesis receives after the worker got an error, requests of killed workers, and late ends of sessions. */
  private readonly late: (() => Promise<unknown>)[] = [];
  private readonly names = new Map<Client, string>();
  private readonly holders: Client[] = [];
  private writersLeft = 0;
  /** The number of statements of writers that wait for a lock or for a slow machine. */
  private writersUnderWay = 0;
  private writerFailure?: Error;
  private isCalm = false;
  private slowestMs: number;
  private readonly random: () => number;

  constructor(
    readonly history: History,
    private readonly url: string,
    private readonly admin: Client,
    private readonly sessions: readonly Client[],
  ) {
    this.random = history.random;
    this.slowestMs = history.slowestMs;
    const { topics } = history;
    for (const topic of topics.length > 0 ? topics : [EVERY_TOPIC]) this.streams.set(topic, this.stream());
  }

  private stream(): FakeKinesis {
    const { faults, relay } = this.history;
    return new FakeKinesis({
      clock: new VirtualClock(),
      roundTripMs: () => 0,
      shardCount: 2,
      entryFate: ({ Data }) => {
        if (!this.isCalm || relay.maxTries !== undefined) {
          if (Buffer.from(Data).includes('poison')) return 'refused';
        }
        if (this.isCalm) return 'stored';
        if (this.random() < faults.entry) return 'failed';
        return this.random() < faults.refused ? 'refused' : 'stored';
      },
    });
  }

  async run(): Promise<void> {
    const { writers, workers } = this.history;
    this.writersLeft = writers.length;
    writers.forEach((transactions, index) => {
      void this.write(`writer ${index}`, this.sessions[index]!, transactions)
        .catch((error) => {
          this.writerFailure ??= this.violation(`a writer failed: ${error.message}`);
        })
        .finally(() => {
          this.writersLeft -= 1;
        });
    });
    for (let worker = 0; worker < workers; worker++) this.startWorker();
    while (this.writersLeft > 0) {
      await this.step();
      await this.disturb();
    }
    if (this.writerFailure !== undefined) throw this.writerFailure;
    this.isCalm = true;
    for (const holder of this.holders.splice(0)) await holder.end();
    // The workers of the earlier deployment, which do not have the late topic, end.
    if (this.history.lateTopic !== undefined) for (const { abort } of this.workers) abort.abort();
    for (let steps = 0; !(await this.hasArrived()); steps++) {
      if (steps > MAX_CALM_STEPS) throw await this.stuck('some committed rows did not arrive');
      await this.step();
    }
    await this.check();
    await this.endWorkers();
    await this.check();
    await this.checkThatNothingIsLeft();
  }

  async cleanUp(): Promise<void> {
    for (const worker of [...this.workers]) await this.kill(worker);
    // Also ends the sessions of workers that have timed out: they hold ranges until Postgres detects the lost connection.
    await this.admin.query(
      `SELECT pg_terminate_backend(pid, 1000) FROM pg_stat_activity
       WHERE datname = current_database() AND application_name LIKE 'worker %'`,
    );
    for (const holder of this.holders) await holder.end();
    for (const session of this.sessions) await session.query('ROLLBACK').catch(() => {});
  }

  private async write(actor: string, session: Client, transactions: readonly Transaction[]): Promise<void> {
    for (const transaction of transactions) {
      const run = (sql: string, values?: unknown[]) => this.gate.pass(actor, () => session.query(sql, values));
      try {
        await run('BEGIN');
        await this.putAll(run, transaction);
        if (transaction.ends === 'rollback') await run('ROLLBACK');
        else {
          await this.gate.pass(actor, async () => {
            await session.query('COMMIT');
            this.noteCommit(transaction);
          });
        }
      } catch (error) {
        if ((error as { code?: string }).code !== '40P01') throw error;
        await run('ROLLBACK');
      }
    }
  }

  private async putAll(
    run: (sql: string, values?: unknown[]) => Promise<unknown>,
    { puts, way, savepointAfter }: Transaction,
  ): Promise<void> {
    if (way === 'put_all') {
      const columns = [puts.map(({ key }) => key), puts.map(({ data }) => Buffer.from(data)), puts.map(topicOf)];
      await run('SELECT outbox.put_all($1, $2::bytea[], topics => $3::text[])', columns);
      return;
    }
    const insert = 'INSERT INTO outbox.message (partition_key, bytes, topic) VALUES ($1, $2, $3)';
    for (const [index, put] of puts.entries()) {
      if (index === savepointAfter) await run('SAVEPOINT here');
      if (way === 'put') await run('SELECT outbox.put($1, $2, topic => $3::text)', [put.key, put.data, topicOf(put)]);
      else await run(insert, [put.key, Buffer.from(put.data), topicOf(put)]);
    }
    if (savepointAfter !== undefined && savepointAfter < puts.length) await run('ROLLBACK TO here');
  }

  private noteCommit({ puts, way, savepointAfter = puts.length }: Transaction): void {
    for (const { key, topic = EVERY_TOPIC, data } of way === 'put_all' ? puts : puts.slice(0, savepointAfter)) {
      const name = `${topic} ${key}`;
      this.committed.set(name, [...(this.committed.get(name) ?? []), data]);
      this.counts.rows += 1;
    }
  }

  private startWorker(): void {
    const name = `worker ${this.workersStarted++}`;
    const worker: Worker = {
      name,
      abort: new AbortController(),
      connections: [],
      hasEnded: false,
    };
    const clock = this.gate.clockOf(name);
    const { aggregation, maxAttempts, relay, topics, lateTopic } = this.history;
    const options = { streamName: 'Events', aggregation, maxAttempts, clock, random: this.random };
    const producerOf = (topic: string) => new OrderedProducer(this.client(name, topic), options);
    const known = topics.filter((topic) => topic !== lateTopic || this.isCalm);
    void new OutboxRelay(
      this.pool(worker),
      topics.length > 0
        ? Object.fromEntries(known.map((topic) => [topic, producerOf(topic)]))
        : producerOf(EVERY_TOPIC),
      tuned({
        ...relay,
        clock,
        leaseMs: 50,
        saveMs: 20,
        retryMs: 10,
        pollMs: 100,
        rotateMs: 60,
        statementTimeoutMs: STATEMENT_TIMEOUT_MS,
      }),
    )
      .run({ signal: worker.abort.signal })
      .catch((error) => {
        worker.failure = error;
      })
      .finally(() => {
        worker.hasEnded = true;
      });
    this.workers.push(worker);
  }

  /** The Kinesis client of one worker for the stream of a topic. */
  private client(worker: string, topic: string): PutRecordsClient {
    const { faults } = this.history;
    const kinesis = this.streams.get(topic)!;
    return {
      putRecords: (input) => {
        // The worker can crash before the request is sent or before the response arrives.
        let isUnderWay = true;
        const apply = () => kinesis.putRecords(input);
        this.late.push(async () => {
          if (isUnderWay && !this.workers.some(({ name }) => name === worker)) await apply();
        });
        return this.gate.pass(worker, async () => {
          isUnderWay = false;
          const drawn = this.isCalm ? 1 : this.random();
          if (drawn < faults.failed) throw new Error('failed');
          if (drawn < faults.failed + faults.late) {
            this.late.push(apply);
            throw new Error('applied late');
          }
          const answer = await apply();
          if (drawn < faults.failed + faults.late + faults.lost) throw new Error('answer lost');
          return answer;
        });
      },
    };
  }

  /** The Postgres pool of one worker. */
  private pool(worker: Worker): PostgresPool {
    const pass: Pass = (act) => this.gate.pass(worker.name, act);
    return {
      totalCount: 0,
      connect: () =>
        pass(async () => {
          const name = `${worker.name}, connection ${worker.connections.length}`;
          const client = await connect(this.url, name);
          this.names.set(client, name);
          worker.connections.push(client);
          return this.connection(client, pass);
        }),
    };
  }

  private connection(client: Client, pass: Pass): PooledClient {
    const { silence } = this.history;
    let isSilent = false;
    const ask = async (query: PostgresQuery) => {
      const answer = await client.query(query);
      if (this.isCalm) await systemClock.sleep(this.takeSlowestMs());
      return answer;
    };
    return {
      query: (query) => {
        const drawn = this.isCalm ? 1 : this.random();
        if (!isSilent && drawn >= silence) return pass(() => ask(query));
        if (!isSilent && drawn < silence / 2) void pass(() => ask(query)).catch(() => {});
        this.counts.silences += isSilent ? 0 : 1;
        isSilent = true;
        return new Promise(() => {});
      },
      on: client.on.bind(client),
      removeListener: client.removeListener.bind(client),
      // Postgres detects the lost client only later. Until then the session keeps its locks.
      release: () => void (isSilent ? this.late.push(() => this.terminate(client)) : client.end()),
    };
  }

  private takeSlowestMs(): number {
    const { slowestMs } = this;
    this.slowestMs = 0;
    return slowestMs;
  }

  /** Runs one step. */
  private async step(): Promise<void> {
    this.counts.steps += 1;
    const { actions, timers } = this.gate;
    const weights = actions.map(({ actor }) => this.weightOf(actor));
    const total = weights.reduce((sum, weight) => sum + weight, 0);
    const forTime = timers.length > 0 ? 0.3 : 0;
    const forLate = this.late.length > 0 && this.random() < 0.1;
    if (forLate) {
      await this.late.splice(Math.floor(this.random() * this.late.length), 1)[0]!();
      return;
    }
    let drawn = this.random() * (total + forTime);
    const index = weights.findIndex((weight) => {
      drawn -= weight;
      return drawn < 0;
    });
    if (index >= 0) await this.letThrough(index);
    else if (timers.length > 0) await this.gate.moveTime();
    else await new Promise((resolve) => setTimeout(resolve, 1));
  }

  /**
   * Waits until the call of a worker has its response, so that the clock does not move while a slow machine computes the response.
   */
  private async letThrough(index: number): Promise<void> {
    const { actor } = this.gate.actions[index]!;
    const through = this.gate.letThrough(index);
    if (actor.startsWith('writer')) {
      this.writersUnderWay += 1;
      const ended = through.finally(() => {
        this.writersUnderWay -= 1;
      });
      await endsWithin(BLOCKED_MS, ended);
    } else if (!(await endsWithin(PATIENCE_MS, through))) throw await this.stuck(`${actor} got no response`);
  }

  private weightOf(actor: string): number {
    const [kind, index] = actor.split(' ');
    return kind === 'writer' ? this.history.paces[Number(index)]! : 1;
  }

  private async disturb(): Promise<void> {
    this.buryEnded();
    const { stop, crash, disconnect, stealLease, divide, holdSnapshot, restore } = this.history.chaos;
    const worker = this.workers[Math.floor(this.random() * this.workers.length)];
    if (worker !== undefined && this.random() < stop) {
      this.counts.stops += 1;
      worker.abort.abort();
    }
    if (worker !== undefined && this.random() < crash) {
      this.counts.crashes += 1;
      await this.kill(worker);
    }
    const connection = worker?.connections.at(-1);
    if (connection !== undefined && this.random() < disconnect) {
      this.counts.disconnects += 1;
      await this.terminate(connection);
    }
    if (connection !== undefined && this.random() < stealLease) {
      this.counts.stolenLeases += 1;
      // The worker continues without its locks, and another worker takes them over.
      void connection.query('SELECT pg_advisory_unlock_all()').catch(() => {});
      await settled();
    }
    if (this.random() < divide) {
      this.counts.divisions += 1;
      await this.admin.query('SELECT outbox.divide($1)', [1 + Math.floor(this.random() * 3)]);
    }
    if (this.holders.length < 2 && this.random() < holdSnapshot) await this.holdSnapshot();
    if (this.random() < restore) await this.restore();
    if (this.workers.length < this.history.workers && this.random() < 0.1) this.startWorker();
  }

  /** Opens a transaction that does not use the outbox and stays open for a long time. */
  private async holdSnapshot(): Promise<void> {
    const holder = await connect(this.url);
    await holder.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
    await holder.query(this.random() < 0.5 ? 'SELECT 1' : 'SELECT pg_current_xact_id()');
    this.holders.push(holder);
  }

  /** Simulates a restore: no worker runs, and the sequence returns numbers of deleted rows again. */
  private async restore(): Promise<void> {
    // A statement that already has a row number, and waits for the lock below, would not survive a restore.
    if (this.writersUnderWay > 0) return;
    for (const worker of [...this.workers]) await this.kill(worker);
    try {
      await this.admin.query('BEGIN');
      // The lock is available only if no transaction is in progress, because a transaction would not survive a restore.
      await this.admin.query('LOCK TABLE outbox.message IN ACCESS EXCLUSIVE MODE NOWAIT');
      await this.admin.query(
        `SELECT setval('outbox.number', greatest(1, (SELECT max(id) FROM outbox.message),
           (SELECT max(id) FROM outbox.parked), (SELECT max(id) FROM outbox.rejected)))`,
      );
      await this.admin.query('SELECT outbox.restored()');
      await this.admin.query('COMMIT');
      this.counts.restores += 1;
    } catch (error) {
      await this.admin.query('ROLLBACK');
      if ((error as { code?: string }).code !== '55P03') throw error;
    }
  }

  private async kill(worker: Worker): Promise<void> {
    this.gate.kill(worker.name);
    this.workers.splice(this.workers.indexOf(worker), 1);
    for (const connection of worker.connections) await this.terminate(connection);
  }

  private async terminate(connection: Client): Promise<void> {
    // Identifies the session by its name, because the system can reuse the process id of an ended connection.
    await this.admin.query(
      `SELECT pg_terminate_backend(pid, 1000) FROM pg_stat_activity
       WHERE datname = current_database() AND application_name = $1`,
      [this.names.get(connection)],
    );
    await settled();
  }

  /** The rows of each key of a topic, without duplicates. */
  private seen(): Map<string, string[]> {
    const seen = new Map<string, string[]>();
    this.counts.repeats = 0;
    for (const [topic, kinesis] of this.streams) {
      const records = kinesis.records().flatMap((record) => deaggregate(record));
      const taken = withoutDuplicates(records);
      for (const { partitionKey, data } of taken) {
        const name = `${topic} ${partitionKey}`;
        seen.set(name, [...(seen.get(name) ?? []), Buffer.from(data).toString()]);
      }
      this.counts.repeats += records.length - taken.length;
    }
    // After a restore, the relay sends the remaining rows with a new producer id, so a consumer sees these rows again
    // in the same order.
    if (this.counts.restores > 0) for (const [key, list] of seen) seen.set(key, [...new Set(list)]);
    return seen;
  }

  /** The rows that a consumer should see: the committed rows without rows that were given up. */
  private async expected(): Promise<Map<string, string[]>> {
    const { rows } = await this.admin.query('SELECT data FROM outbox.rejected');
    this.counts.givenUp = rows.length;
    const givenUp = new Set(rows.map(({ data }) => data.toString()));
    const lists = [...this.committed].map(([key, list]) => [key, list.filter((data) => !givenUp.has(data))] as const);
    return new Map(lists.filter(([, list]) => list.length > 0));
  }

  private async hasArrived(): Promise<boolean> {
    this.replaceEnded();
    if (this.late.length > 0 || this.counts.steps % 10 > 0) return false;
    const seen = new Set([...this.seen().values()].flat());
    return [...(await this.expected()).values()].flat().every((data) => seen.has(data));
  }

  private replaceEnded(): void {
    this.buryEnded();
    if (this.workers.length === 0) this.startWorker();
  }

  /** Removes the workers that have ended after a stop. A worker must not fail, also if its first connection is lost. */
  private buryEnded(): void {
    for (const worker of this.workers.filter(({ hasEnded }) => hasEnded)) {
      if (worker.failure !== undefined) throw worker.failure;
      this.workers.splice(this.workers.indexOf(worker), 1);
    }
  }

  private async check(): Promise<void> {
    const [seen, expected] = [this.seen(), await this.expected()];
    for (const key of new Set([...seen.keys(), ...expected.keys()])) {
      const [was, should] = [seen.get(key) ?? [], expected.get(key) ?? []];
      // If the response to a request was lost, a row that was given up can still be in the stream, in the correct
      // order.
      const given = new Set(this.committed.get(key));
      const wasInPlace = was.filter((data) => should.includes(data));
      if (String(wasInPlace) !== String(should) || was.some((data) => !given.has(data))) {
        throw this.violation(
          `the stream must have the rows ${should.join(', ')} of the key ${key}, got ${was.join(', ')}`,
        );
      }
    }
  }

  /** Stops all workers, which save their positions. */
  private async endWorkers(): Promise<void> {
    for (const { abort } of this.workers) abort.abort();
    for (let steps = 0; this.workers.some(({ hasEnded }) => !hasEnded); steps++) {
      if (steps > MAX_CALM_STEPS) throw await this.stuck('a worker did not stop');
      await this.step();
    }
    this.buryEnded();
  }

  /** Checks that a new worker finds no row to send, and that all slots can be emptied. */
  private async checkThatNothingIsLeft(): Promise<void> {
    this.workers.splice(0);
    this.startWorker();
    const left = async () => {
      await this.admin.query('SELECT outbox.rotate()');
      const { rows } = await this.admin.query(
        'SELECT (SELECT count(*) FROM outbox.message)::int + (SELECT count(*) FROM outbox.parked)::int AS rows_left',
      );
      return rows[0].rows_left;
    };
    for (let steps = 0; this.counts.steps % 20 > 0 || (await left()) > 0; steps++) {
      if (steps > MAX_CALM_STEPS) throw await this.stuck(`${await left()} rows are left`);
      this.replaceEnded();
      await this.step();
    }
    await this.endWorkers();
    await this.check();
  }

  private async stuck(what: string): Promise<Error> {
    const rows = async (sql: string) => (await this.admin.query(sql)).rows;
    const state = {
      history: this.history,
      counts: this.counts,
      seen: [...this.seen()],
      expected: [...(await this.expected())],
      waiting: this.gate.actions.map(({ actor }) => actor),
      timers: this.gate.timers.map(({ actor, atMs }) => `${actor} ${atMs}`),
      late: this.late.length,
      workers: this.workers.map(({ name, hasEnded, failure }) => ({ name, hasEnded, failure })),
      ranges: await rows('SELECT * FROM outbox.range'),
      parked: await rows('SELECT partition_key, id, tries, last_error FROM outbox.parked'),
      messages: await rows('SELECT id, partition_key, xid, slot FROM outbox.message'),
      sessions: await rows(
        `SELECT application_name, state, wait_event, pg_blocking_pids(pid) AS waits_for, query FROM pg_stat_activity
         WHERE datname = current_database()`,
      ),
    };
    return this.violation(`${what}: ${inspect(state, { depth: 5, breakLength: 120 })}`);
  }

  private violation(what: string): Error {
    return new Error(`seed ${this.history.seed}: ${what}`);
  }
}

export type { Play };

function topicOf({ topic = null }: { topic?: string | null }): string | null {
  return topic;
}

/** Whether an action ends within the time. */
async function endsWithin(ms: number, action: Promise<void>): Promise<boolean> {
  let timer: NodeJS.Timeout;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), ms);
  });
  const isDone = await Promise.race([action.then(() => true), late]);
  clearTimeout(timer!);
  return isDone;
}
