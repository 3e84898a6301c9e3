import { type Client, Pool } from 'pg';
import { deaggregate, OrderedProducer } from '../../../lib/core';
import {
  AGGREGATION,
  DATABASE_HOST,
  DATABASE_NAME,
  DATABASE_PORT,
  DATABASE_SECRET_ARN,
  OUTBOX_SCHEMA,
  STREAM_NAME,
} from '../../../lib/core/contract/function-environment';
import { systemClock } from '../../../lib/core/kernel/clock';
import { migrateOutbox, OutboxRelay } from '../../../lib/core/outbox';
import { FakeKinesis } from '../../../lib/testing/fake-kinesis';
import type { VirtualClock } from '../../../lib/testing/virtual-clock';
import { FATES, type Fate, HostileProxy, LIES } from '../../support/postgres/hostile-proxy';
import { PostgresServer } from '../../support/postgres/postgres-server';
import { CANARY, type Dice, mutatedJson } from '../../support/random-json';
import { withoutDuplicates } from '../../support/without-duplicates';
import { startFunction } from './functions';
import type { FuzzCase } from './fuzz-case';
import type { FuzzTarget } from './fuzz-target';
import { checkInvocation } from './oracle';

/** The type of the fake requires a test clock. This test passes the system clock. */
const clock = systemClock as unknown as VirtualClock;

/** All rows must arrive within this time. Even on a busy machine, they need much less time. */
const MAX_MS = 30_000;

/** A relay runs for this time after false responses. It may lose rows then, but it must continue to run. */
const AFTER_LIES_MS = 300;

/** The function stops reading rows this long before its timeout. */
const LAST_READ_MS = 10_000;

/** Runs the relay class and the relay function with a real Postgres, behind a proxy that changes the responses of Postgres. */
export class OutboxTargets {
  private server?: Promise<PostgresServer>;
  private outboxes = 0;

  readonly targets: readonly FuzzTarget[] = [
    { name: 'relay of an outbox', play: (fuzzCase) => this.relay(fuzzCase) },
    { name: 'relay function of an outbox', play: (fuzzCase) => this.relayFunction(fuzzCase) },
  ];

  async stop(): Promise<void> {
    await (await this.server)?.stop();
  }

  /** Every committed row arrives once and in order, unless responses are false. */
  private async relay(fuzzCase: FuzzCase): Promise<void> {
    const { dice } = fuzzCase;
    const outbox = await this.startOutbox(fuzzCase);
    const committed = await outbox.put(dice);
    const kinesis = new FakeKinesis({
      clock,
      shardCount: 2,
      roundTripMs: () => 0,
      entryFate: () => (dice.chance(0.1) ? 'failed' : 'stored'),
    });
    const fates = drawFates(outbox.proxy, dice);
    const hasLied = () => fates.some((fate) => LIES.includes(fate));
    const deadline = performance.now() + MAX_MS;
    const failures: unknown[] = [];
    const pool = new Pool({ connectionString: outbox.url, max: 2, connectionTimeoutMillis: 200 });
    pool.on('error', () => {});
    fuzzCase.with(pool, async () => {
      outbox.proxy.fate = () => 'honest';
      outbox.proxy.cutAll();
      await pool.end();
    });
    const options = { batchRows: dice.pick([1, 3, 100]), statementTimeoutMs: 200, schema: outbox.schema };
    const seen = () => seenOf(kinesis.records());
    while (!hasArrived(seen(), committed)) {
      if (performance.now() > deadline)
        throw new Error(`some rows did not arrive, after the faults ${fates.join(', ')}`);
      fuzzCase.begins(`the relay runs, after ${fates.join(', ')}`);
      const begun = performance.now();
      const isOver = () => hasLied() && performance.now() > begun + AFTER_LIES_MS;
      const isEnough = () => isOver() || hasArrived(seen(), committed) || performance.now() > deadline;
      failures.push(await relayUntil(pool, kinesis, options, isEnough));
      if (isOver()) break;
    }
    for (const failure of failures) checkTyped(failure);
    if (!hasLied()) checkOrder(seen(), committed);
  }

  /**
   * Invocations of the bundled function with misbehaving services, and then with honest services. Each invocation ends before its
   * timeout. Every committed row arrives once and in order, unless responses are false.
   */
  private async relayFunction(fuzzCase: FuzzCase): Promise<void> {
    const { dice } = fuzzCase;
    const outbox = await this.startOutbox(fuzzCase);
    const { port, pathname } = new URL(outbox.url);
    const { aws, invoke } = await startFunction(fuzzCase, 'outbox-relay', {
      [STREAM_NAME]: 'events',
      [AGGREGATION]: dice.pick(['true', 'false']),
      [DATABASE_HOST]: '127.0.0.1',
      [DATABASE_PORT]: port,
      [DATABASE_NAME]: pathname.slice(1),
      [DATABASE_SECRET_ARN]: 'arn:aws:secretsmanager:us-east-1:000000000000:secret:relay',
      [OUTBOX_SCHEMA]: outbox.schema,
    });
    const committed = await outbox.put(dice);
    const relay = async (forMs: number): Promise<void> => {
      const event = mutatedJson({ time: 'now', detail: { [CANARY]: CANARY } }, dice);
      const invocation = await invoke(event, LAST_READ_MS + forMs);
      checkInvocation(invocation);
      if (invocation.leftMs <= 0) throw new Error(`the invocation ended ${-invocation.leftMs} ms after its timeout`);
    };
    const fates = drawFates(outbox.proxy, dice);
    aws.drawFates(dice);
    await relay(dice.pick([50, 300, 1_000]));
    const hasLied = aws.hasLied || fates.some((fate) => LIES.includes(fate));
    aws.fate = outbox.proxy.fate = () => 'honest';
    const seen = () =>
      seenOf(
        aws.records.map(({ PartitionKey, Data }) => ({
          partitionKey: PartitionKey,
          data: Buffer.from(Data, 'base64'),
        })),
      );
    const deadline = performance.now() + MAX_MS;
    // On a busy machine, connecting can take longer than an invocation, so each attempt has twice the time of the previous attempt.
    for (let forMs = 300; !hasArrived(seen(), committed); forMs *= 2) {
      if (performance.now() > deadline)
        throw new Error(`some rows did not arrive, after the faults ${fates} and ${aws.fates}`);
      await relay(forMs);
      if (hasLied) return;
    }
    if (!hasLied) checkOrder(seen(), committed);
  }

  /** Creates an empty outbox. */
  private async startOutbox(fuzzCase: FuzzCase): Promise<Outbox> {
    this.server ??= PostgresServer.start();
    const server = await this.server;
    const schema = `outbox_${this.outboxes++}`;
    const admin = fuzzCase.with(await server.connect(), async (each) => {
      await each.query(`DROP SCHEMA ${schema} CASCADE`);
      await each.end();
    });
    await migrateOutbox(admin, { schema });
    const url = new URL(server.urlOf('postgres'));
    const dice = fuzzCase.diceFor('Postgres');
    const proxy = fuzzCase.with(await HostileProxy.start(Number(url.port), dice), (each) => each.stop());
    url.port = String(proxy.port);
    return new Outbox(admin, proxy, url.href, schema);
  }
}

class Outbox {
  constructor(
    private readonly admin: Client,
    readonly proxy: HostileProxy,
    /** The URL of the proxy. */
    readonly url: string,
    readonly schema: string,
  ) {}

  /** Puts rows of some keys. Returns the rows in the order of their commits. */
  async put(dice: Dice): Promise<Map<string, string[]>> {
    const committed = new Map<string, string[]>();
    for (let number = 0; number <= dice.below(12); number++) {
      const key = `${CANARY} ${dice.below(3)}`;
      const data = `${CANARY} ${number}`;
      await this.admin.query(`SELECT ${this.schema}.put($1, $2)`, [key, data]);
      committed.set(key, [...(committed.get(key) ?? []), data]);
    }
    return committed;
  }
}

/** Makes the proxy change some responses for a while. */
function drawFates(proxy: HostileProxy, dice: Dice): Fate[] {
  const fates: Fate[] = [];
  const mayLie = dice.chance(0.3);
  const hostile = FATES.filter((fate) => mayLie || !LIES.includes(fate));
  let left = dice.chance(0.8) ? 1 + dice.below(12) : 0;
  const rate = dice.pick([0.05, 0.2, 0.5]);
  proxy.fate = () => {
    if (left === 0 || !dice.chance(rate)) return 'honest';
    left -= 1;
    const fate = dice.pick(hostile);
    fates.push(fate);
    return fate;
  };
  return fates;
}

/**
 * Runs the relay until a condition holds, and returns the error of the relay. Even after false responses, the relay must end in
 * time.
 */
async function relayUntil(
  pool: Pool,
  kinesis: FakeKinesis,
  options: { batchRows: number; statementTimeoutMs: number; schema: string },
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
      (error: unknown) => error ?? new Error('the relay did not throw an error'),
    )
    .finally(() => {
      hasEnded = true;
    });
  while (!hasEnded && !isEnough()) await systemClock.sleep(5);
  ending.abort();
  const failure = await ended;
  await producer.close();
  return failure;
}

interface StoredRecord {
  readonly partitionKey: string;
  readonly data: Uint8Array;
}

/** The rows of each key, without duplicates. */
function seenOf(stored: readonly StoredRecord[]): Map<string, string[]> {
  const lists = new Map<string, string[]>();
  const records = stored.flatMap((record) => deaggregate(record));
  for (const { partitionKey, data } of withoutDuplicates(records)) {
    lists.set(partitionKey, [...(lists.get(partitionKey) ?? []), Buffer.from(data).toString()]);
  }
  return lists;
}

function hasArrived(seen: ReadonlyMap<string, string[]>, committed: ReadonlyMap<string, string[]>): boolean {
  const all = new Set([...seen.values()].flat());
  return [...committed.values()].flat().every((data) => all.has(data));
}

function checkOrder(seen: ReadonlyMap<string, string[]>, committed: ReadonlyMap<string, string[]>): void {
  for (const [key, list] of committed) {
    if (String(seen.get(key)) !== String(list))
      throw new Error(`the stream must have the rows ${list} of the key ${key}, got ${seen.get(key)}`);
  }
  if (seen.size > committed.size) throw new Error('the stream has rows that were not committed');
}

/** Throws unless the error is an error of this library, or has an error code of Postgres or of the system. */
function checkTyped(failure: unknown): void {
  if (failure === undefined) return;
  const { code } = Object(failure) as { code?: unknown };
  if (typeof code !== 'string') throw new Error(`the error has no code: ${String(failure)}`, { cause: failure });
}
