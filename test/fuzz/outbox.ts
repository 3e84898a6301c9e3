import { type Client, Pool } from 'pg';
import { deaggregate, deduplicate, OrderedProducer, SequenceHistory } from '../../lib/core';
import { systemClock } from '../../lib/core/foundation/clock';
import { migrateOutbox, OutboxRelay } from '../../lib/core/outbox';
import { FakeKinesis } from '../../lib/testing/fake-kinesis';
import type { VirtualClock } from '../../lib/testing/virtual-clock';
import { FATES, type Fate, HostileProxy, LIES } from '../postgres/hostile-proxy';
import { PostgresServer } from '../postgres/postgres-server';
import type { FuzzTarget } from './fuzz-target';
import { CANARY, type Dice } from './random-json';

/** The fake takes a clock of tests; here it gets the real one. */
const clock = systemClock as unknown as VirtualClock;

/** Much longer than a case takes on a busy machine, and much shorter than what hangs. */
const MOST_MS = 30_000;

/** A relay that was told lies may have lost rows; it must go on all the same. */
const AFTER_LIES_MS = 300;

/** A relay, and a real Postgres behind a proxy that spoils its answers. */
export class OutboxTarget {
  private constructor(
    private readonly server: PostgresServer,
    private readonly proxy: HostileProxy,
    private readonly admin: Client,
    private readonly url: string,
  ) {}

  static async start(dice: Dice): Promise<OutboxTarget> {
    const server = await PostgresServer.start();
    const url = await server.createDatabase('fuzz');
    const admin = await server.connect(url);
    await migrateOutbox(admin);
    const proxy = await HostileProxy.start(Number(new URL(url).port), dice);
    const proxied = new URL(url);
    proxied.port = String(proxy.port);
    return new OutboxTarget(server, proxy, admin, proxied.href);
  }

  async stop(): Promise<void> {
    this.proxy.stop();
    await this.admin.end();
    await this.server.stop();
  }

  get targets(): FuzzTarget[] {
    return [{ name: 'relay of an outbox', play: (dice) => this.relay(dice) }];
  }

  /** Every committed row arrives once, in order, whatever becomes of answers, unless they lie. */
  private async relay(dice: Dice): Promise<void> {
    await this.reset();
    const committed = await this.put(dice);
    const kinesis = new FakeKinesis({
      clock,
      shardCount: 2,
      roundTripMs: () => 0,
      entryFate: () => (dice.chance(0.1) ? 'failed' : 'stored'),
    });
    const fates = this.befall(dice);
    const hasLied = () => fates.some((fate) => LIES.includes(fate));
    const deadline = performance.now() + MOST_MS;
    const failures: unknown[] = [];
    const pool = new Pool({ connectionString: this.url, max: 2, connectionTimeoutMillis: 200 });
    pool.on('error', () => {});
    const relay = { windowRows: dice.pick([1, 3, 100]), statementTimeoutMs: 200 };
    try {
      while (!arrived(kinesis, committed)) {
        if (performance.now() > deadline) throw new Error(`rows did not arrive, after ${fates.join(', ')}`);
        const begun = performance.now();
        const isOver = () => hasLied() && performance.now() > begun + AFTER_LIES_MS;
        const isEnough = () => isOver() || arrived(kinesis, committed) || performance.now() > deadline;
        failures.push(await this.relayUntil(pool, kinesis, relay, isEnough));
        if (isOver()) break;
      }
    } finally {
      this.proxy.fate = () => 'honest';
      this.proxy.cutAll();
      await pool.end();
    }
    for (const failure of failures) checkTyped(failure);
    if (!hasLied()) checkOrder(kinesis, committed);
  }

  /** Some answers are spoilt, and then no more. */
  private befall(dice: Dice): Fate[] {
    const fates: Fate[] = [];
    const mayLie = dice.chance(0.3);
    const hostile = FATES.filter((fate) => mayLie || !LIES.includes(fate));
    let left = dice.chance(0.8) ? 1 + dice.below(12) : 0;
    const rate = dice.pick([0.05, 0.2, 0.5]);
    this.proxy.fate = () => {
      if (left === 0 || !dice.chance(rate)) return 'honest';
      left -= 1;
      const fate = dice.pick(hostile);
      fates.push(fate);
      return fate;
    };
    return fates;
  }

  /** What the relay threw, if it did. It ends in time, whatever becomes of its answers. */
  private async relayUntil(
    pool: Pool,
    kinesis: FakeKinesis,
    options: { windowRows: number; statementTimeoutMs: number },
    isEnough: () => boolean,
  ): Promise<unknown> {
    const producer = new OrderedProducer(kinesis, { streamName: 'Events', aggregation: true, backoffBaseMs: 1 });
    const ending = new AbortController();
    const fast = { leaseMs: 20, saveMs: 20, retryMs: 10, pollMs: 50, rotateMs: 50 };
    const relay = new OutboxRelay(pool, producer, { ...fast, ...options });
    let hasEnded = false;
    const ended = relay
      .run({ signal: ending.signal })
      .then(
        () => undefined,
        (error: unknown) => error ?? new Error('nothing was thrown'),
      )
      .finally(() => {
        hasEnded = true;
      });
    while (!hasEnded && !isEnough()) await systemClock.sleep(5);
    ending.abort();
    const failure = await Promise.race([
      ended,
      systemClock.sleep(MOST_MS).then(() => new Error('the relay did not end')),
    ]);
    await producer.close();
    return failure;
  }

  private async reset(): Promise<void> {
    await this.admin.query('TRUNCATE outbox.message, outbox.parked, outbox.rejected');
    await this.admin.query('SELECT outbox.divide(1)');
    await this.admin.query("UPDATE outbox.range SET batch_from = '3:3:', batch_to = NULL, bound = 0, after_id = 0");
  }

  /** Rows of some keys, in the order of their commits. */
  private async put(dice: Dice): Promise<Map<string, string[]>> {
    const committed = new Map<string, string[]>();
    for (let number = 0; number <= dice.below(12); number++) {
      const key = `${CANARY} ${dice.below(3)}`;
      const data = `${CANARY} ${number}`;
      await this.admin.query('SELECT outbox.put($1, $2)', [key, data]);
      committed.set(key, [...(committed.get(key) ?? []), data]);
    }
    return committed;
  }
}

/** What a consumer sees of each key, without repeats. */
function seen(kinesis: FakeKinesis): Map<string, string[]> {
  const seenOnce = new SequenceHistory();
  const lists = new Map<string, string[]>();
  const records = kinesis.records().flatMap((record) => deaggregate(record));
  for (const { partitionKey, data } of deduplicate(records, seenOnce)) {
    lists.set(partitionKey, [...(lists.get(partitionKey) ?? []), Buffer.from(data).toString()]);
  }
  return lists;
}

function arrived(kinesis: FakeKinesis, committed: ReadonlyMap<string, string[]>): boolean {
  const all = new Set([...seen(kinesis).values()].flat());
  return [...committed.values()].flat().every((data) => all.has(data));
}

function checkOrder(kinesis: FakeKinesis, committed: ReadonlyMap<string, string[]>): void {
  const lists = seen(kinesis);
  for (const [key, list] of committed) {
    if (String(lists.get(key)) !== String(list)) throw new Error(`seen ${lists.get(key)}, committed ${list}`);
  }
  if (lists.size > committed.size) throw new Error('there are rows that nobody committed');
}

/** An error of this library, or one to which Postgres or the system gave a code. */
function checkTyped(failure: unknown): void {
  if (failure === undefined) return;
  const { code } = Object(failure) as { code?: unknown };
  if (typeof code !== 'string') throw new Error(`untyped: ${String(failure)}`, { cause: failure });
}
