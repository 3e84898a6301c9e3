import { MemoryParkingStore, OrderedConsumer } from '../../lib/core/consumer';

/**
 * What an ordered consumer costs in CPU for each record, beside a bare loop over the same events, and with more keys in a batch.
 * What dominates is what each record needs: its bytes out of base64, its place as text, and promises of its own.
 *
 *   npm run bench consumer
 */
const RECORDS = 1_000;
const KEYS = 200;
const ROUNDS = 30;
const BATCHES_OF_A_ROUND = 10;
/** Batches with as many records as keys. */
const LARGER_BATCHES = [1_000, 10_000, 100_000];
const LARGER_REPEATS = 3;

type Run = (event: ReturnType<typeof eventOf>) => Promise<unknown>;

let number = 10n ** 55n;

/** Numbered behind all before, for the consumer drops what it has seen. */
function eventOf(records: number, keys: number) {
  return {
    Records: Array.from({ length: records }, (_, index) => ({
      eventSource: 'aws:kinesis',
      eventID: `shardId-000000000000:${index}`,
      kinesis: {
        partitionKey: `account-${index % keys}`,
        sequenceNumber: String(number++),
        data: Buffer.alloc(100, 'x').toString('base64'),
      },
    })),
  };
}

let handled = 0;
const handle = async (): Promise<void> => {
  handled += 1;
};

const bareLoop: Run = async ({ Records }) => {
  for (const { kinesis } of Records) {
    Buffer.from(kinesis.data, 'base64');
    await handle();
  }
};

const consumer = new OrderedConsumer(handle, { parking: new MemoryParkingStore() });
const ordered: Run = (event) => consumer.handler(event, { getRemainingTimeInMillis: () => 60_000 });

/** Microseconds of CPU for each record. */
async function costOf(run: Run, records: number, keys: number, batches: number): Promise<number> {
  const events = Array.from({ length: batches }, () => eventOf(records, keys));
  const start = process.cpuUsage();
  for (const event of events) await run(event);
  const { user, system } = process.cpuUsage(start);
  return (user + system) / (batches * records);
}

function median(costs: number[]): number {
  return costs.sort((a, b) => a - b)[Math.floor(costs.length / 2)]!;
}

async function main(): Promise<void> {
  // Metrics of the consumer are lines of its log.
  const { log } = console;
  console.log = (line: string) => line.startsWith('{') || log(line);
  const costs: Record<'bare' | 'ordered', number[]> = { bare: [], ordered: [] };
  for (let round = 0; round < 2 * ROUNDS; round++) {
    // In turn, so that the load of the machine is that of both; the first half warms up.
    const [bare, own] = [
      await costOf(bareLoop, RECORDS, KEYS, BATCHES_OF_A_ROUND),
      await costOf(ordered, RECORDS, KEYS, BATCHES_OF_A_ROUND),
    ];
    if (round < ROUNDS) continue;
    costs.bare.push(bare);
    costs.ordered.push(own);
  }
  const [bare, own] = [median(costs.bare), median(costs.ordered)];
  console.log(`${RECORDS} records of 100 bytes and ${KEYS} keys, microseconds of CPU for each record`);
  console.log(
    `a bare loop: ${bare.toFixed(2)}, an ordered consumer: ${own.toFixed(2)}, ${(own / bare).toFixed(0)} times`,
  );
  let first: number | undefined;
  for (const keys of LARGER_BATCHES) {
    const repeated: number[] = [];
    for (let again = 0; again < LARGER_REPEATS; again++) repeated.push(await costOf(ordered, keys, keys, 1));
    const cost = median(repeated);
    first ??= cost;
    console.log(
      `a batch of ${keys} keys: ${cost.toFixed(2)}, ${(cost / first).toFixed(1)} times that of ${LARGER_BATCHES[0]}`,
    );
  }
  const expected =
    4 * ROUNDS * BATCHES_OF_A_ROUND * RECORDS + LARGER_REPEATS * LARGER_BATCHES.reduce((sum, keys) => sum + keys, 0);
  if (handled !== expected) throw new Error('records were left out');
}

void main();
