import { MemoryParkingStore, OrderedConsumer } from '../../lib/core/consumer';

/** What an ordered consumer costs in CPU for each record, beside a bare loop over the same event: npm run bench consumer [records] */
const records = Number(process.argv[2] ?? 1_000);
const KEYS = 200;
const ROUNDS = 100;
const WARM_UP_ROUNDS = 20;

const event = {
  Records: Array.from({ length: records }, (_, index) => ({
    eventSource: 'aws:kinesis',
    eventID: `shardId-000000000000:${index}`,
    kinesis: {
      partitionKey: `account-${index % KEYS}`,
      sequenceNumber: String(10n ** 55n + BigInt(index)),
      data: Buffer.alloc(100, 'x').toString('base64'),
    },
  })),
};

let handled = 0;
const handle = async (): Promise<void> => {
  handled += 1;
};

async function bareLoop(): Promise<void> {
  for (const { kinesis } of event.Records) {
    Buffer.from(kinesis.data, 'base64');
    await handle();
  }
}

/** A process of its own each time: it would drop what it has seen. */
async function orderedConsumer(): Promise<void> {
  const consumer = new OrderedConsumer(handle, { parking: new MemoryParkingStore() });
  await consumer.handler(event, { getRemainingTimeInMillis: () => 60_000 });
}

async function microsecondsOf(run: () => Promise<void>): Promise<number> {
  for (let round = 0; round < WARM_UP_ROUNDS; round++) await run();
  const start = process.cpuUsage();
  for (let round = 0; round < ROUNDS; round++) await run();
  const { user, system } = process.cpuUsage(start);
  return (user + system) / (ROUNDS * records);
}

async function main(): Promise<void> {
  console.log(`${records} records of 100 bytes and ${KEYS} keys, microseconds of CPU for each record`);
  console.log(`a bare loop: ${(await microsecondsOf(bareLoop)).toFixed(2)}`);
  console.log(`an ordered consumer: ${(await microsecondsOf(orderedConsumer)).toFixed(2)}`);
  if (handled !== 2 * (WARM_UP_ROUNDS + ROUNDS) * records) throw new Error('records were left out');
}

void main();
