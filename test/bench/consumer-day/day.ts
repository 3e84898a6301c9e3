import { MemoryParkingStore, OrderedConsumer, type OrderedConsumerOptions } from '../../../lib/core/consumer';
import { VirtualClock } from '../../../lib/testing';
import { seededRandom } from '../../../lib/testing/seeded-random';
import {
  EventSource,
  type InvokedFunction,
  type MappingSettings,
  type WrittenRecord,
} from '../../support/fakes/event-source';
import { kinesisEvent } from '../../support/fakes/stream-events';

export const HEADER = [
  'with',
  'handler calls',
  'late',
  'longest standstill',
  'applied again',
  'overtaken',
  'expired',
  'set aside',
];

const RECORDS = 100_000;
const KEYS = 1_000;
const DAY_MS = 24 * 60 * 60_000;
const MINUTE_MS = 60_000;
const OUTAGE_AT_MS = 6 * 60 * MINUTE_MS;
const HANDLER_MS = 20;
const POISON = 50_000;
const LATE_MS = 10_000;
const TIMEOUT_MS = MINUTE_MS;
const SHARD_ID = 'shardId-000000000000';
/** The assumed delay before Lambda retries a batch. AWS does not document this delay. */
const WAITS = { retryMs: 1_000, longestRetryMs: MINUTE_MS };

export type Handle = (text: string) => Promise<void>;

/** One way to consume the stream: a function, and the settings of its event source mapping. */
interface Way {
  readonly name: string;
  readonly mapping?: MappingSettings;
  /** @param retryNowAndThen receives the function that the retry schedule calls */
  function(
    handle: Handle,
    clock: VirtualClock,
    retryNowAndThen: (retry: () => Promise<unknown>) => void,
  ): InvokedFunction;
}

/** A function that throws at the first failure, so that the whole batch fails. */
const throwing =
  (handle: Handle): InvokedFunction =>
  async (batch) => {
    for (const record of batch) await handle(textOf(record));
  };

/** `powertools` is the batch processor of Powertools. */
export const waysToConsume = (powertools: Way['function']): Way[] => [
  { name: "Lambda's own retry", function: throwing },
  { name: 'bisecting', mapping: { bisects: true }, function: throwing },
  {
    name: 'bisecting, 10 retries, a destination',
    mapping: { bisects: true, retries: 10 },
    function: throwing,
  },
  { name: "Powertools' batch processor", function: powertools },
  {
    name: "Powertools' batch processor, 10 retries, a destination",
    mapping: { retries: 10 },
    function: powertools,
  },
  { name: '`OrderedConsumer`', function: ordered },
];

function ordered(
  handle: Handle,
  clock: VirtualClock,
  retryNowAndThen: (retry: () => Promise<unknown>) => void,
): InvokedFunction {
  const options: OrderedConsumerOptions = {
    parking: new MemoryParkingStore(),
    clock,
    random: seededRandom(2),
    timeOfDay: () => clock.now(),
  };
  const consumer = new OrderedConsumer((record) => handle(Buffer.from(record.data).toString()), options);
  retryNowAndThen(() => consumer.retryParked());
  return (batch) => {
    const startedAt = clock.now();
    const context = { getRemainingTimeInMillis: () => TIMEOUT_MS - (clock.now() - startedAt) };
    return consumer.handler(kinesisEvent(batch), context);
  };
}

/** Simulates a day with one way to consume the stream, and returns its row of the table. */
export async function consumerDayRow({ name, mapping: settings, function: way }: Way): Promise<string[]> {
  const clock = new VirtualClock();
  const shard = dayOfRecords();
  const effects = new Effects(clock, shard);
  let calls = 0;
  const handle: Handle = async (text) => {
    calls += 1;
    await clock.sleep(HANDLER_MS);
    const now = clock.now();
    if (text === textOf(shard[POISON]!) || (now >= OUTAGE_AT_MS && now < OUTAGE_AT_MS + MINUTE_MS))
      throw new Error(text);
    effects.apply(text);
  };
  let retry = async (): Promise<unknown> => undefined;
  const invoke = way(handle, clock, (given) => {
    retry = given;
  });
  const shards = [{ shardId: SHARD_ID, parents: [], isOpen: false, records: shard }];
  const source = new EventSource(clock, () => shards, invoke);
  let hasEnded = false;
  const reading = source.readAll({ behindMs: 1_000, ...WAITS, ...settings }).then(() => {
    hasEnded = true;
  });
  const retrying = (async () => {
    while (!hasEnded) {
      await clock.sleep(MINUTE_MS);
      await retry();
    }
  })();
  await clock.runUntil(Promise.all([reading, retrying]), everythingThatRunsByItself);
  const { expired } = source;
  const without = (records: readonly WrittenRecord[]) => records.filter((record) => !effects.has(record)).length;
  return [
    name,
    inDigits(calls),
    inDigits(effects.late),
    inWords(effects.longestGapMs),
    inDigits(effects.again),
    inDigits(effects.overtaken),
    inDigits(without(expired)),
    inDigits(without(shard) - without(expired)),
  ];
}

/** The records of a day at even intervals, each with a random key. */
function dayOfRecords(): WrittenRecord[] {
  const random = seededRandom(1);
  return Array.from({ length: RECORDS }, (_, index) => {
    const partitionKey = `account-${Math.floor(random() * KEYS)}`;
    const [shardId, sequenceNumber] = [SHARD_ID, String(index + 1)];
    const arrivedAtMs = (index * DAY_MS) / RECORDS;
    return { shardId, partitionKey, sequenceNumber, data: Buffer.from(`${partitionKey}/${index}`), arrivedAtMs };
  });
}

function textOf({ data }: WrittenRecord): string {
  return Buffer.from(data).toString();
}

/** Stores the effects of records, with their times. */
class Effects {
  again = 0;
  longestGapMs = 0;
  private lastMs = 0;
  /** The time and the position of the first effect of each record. */
  private readonly first = new Map<string, { atMs: number; place: number }>();

  constructor(
    private readonly clock: VirtualClock,
    private readonly shard: readonly WrittenRecord[],
  ) {}

  apply(text: string): void {
    if (this.first.has(text)) this.again += 1;
    else {
      const atMs = this.clock.now();
      this.longestGapMs = Math.max(this.longestGapMs, atMs - this.lastMs);
      this.lastMs = atMs;
      this.first.set(text, { atMs, place: this.first.size });
    }
  }

  has(record: WrittenRecord): boolean {
    return this.first.has(textOf(record));
  }

  get late(): number {
    return this.shard.filter((record) => {
      const { atMs = Number.POSITIVE_INFINITY } = this.first.get(textOf(record)) ?? {};
      return atMs - record.arrivedAtMs > LATE_MS;
    }).length;
  }

  /** The number of records that took effect after a later record of their key. */
  get overtaken(): number {
    const earliestLater = new Map<string, number>();
    let overtaken = 0;
    for (const record of [...this.shard].reverse()) {
      const { place = Number.POSITIVE_INFINITY } = this.first.get(textOf(record)) ?? {};
      const later = earliestLater.get(record.partitionKey) ?? Number.POSITIVE_INFINITY;
      if (later < place) overtaken += 1;
      earliestLater.set(record.partitionKey, Math.min(later, place));
    }
    return overtaken;
  }
}

function inDigits(count: number): string {
  return count.toLocaleString('en');
}

function inWords(ms: number): string {
  if (ms >= 60 * MINUTE_MS) return `${(ms / 60 / MINUTE_MS).toFixed(1)} hours`;
  return `${Math.round(ms / 1_000)} s`;
}

/** Waits until all remaining promises wait for the virtual clock. */
function everythingThatRunsByItself(): Promise<void> {
  return new Promise((resolve) => queueMicrotask(() => process.nextTick(resolve)));
}
