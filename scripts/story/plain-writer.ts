import { setTimeout as sleep } from 'node:timers/promises';
import type { Kinesis, PutRecordsRequestEntry } from '@aws-sdk/client-kinesis';
import type { RepositoryEvent } from '../../examples/repository-outbox/repositories';

const BATCH_EVENTS = 20;
const BATCH_INTERVAL_MS = 100;
const FIRST_BACK_OFF_MS = 200;
const LONGEST_BACK_OFF_MS = 3_200;

/**
 * Writes events without this library, as many applications do: a batch of new events every 100 ms, and retries with an
 * exponential back-off and jitter for the failed records of a batch.
 */
export async function writePlainly(
  kinesis: Kinesis,
  streamName: string,
  events: readonly RepositoryEvent[],
): Promise<void> {
  const entries = events.map((event) => ({ PartitionKey: event.repository, Data: Buffer.from(JSON.stringify(event)) }));
  const batches = Array.from({ length: Math.ceil(entries.length / BATCH_EVENTS) }, (_, number) =>
    entries.slice(number * BATCH_EVENTS, (number + 1) * BATCH_EVENTS),
  );
  await Promise.all(
    batches.map(async (batch, number) => {
      await sleep(number * BATCH_INTERVAL_MS);
      await putWithRetries(kinesis, streamName, batch);
    }),
  );
}

/** Retries failed records in another `PutRecords` request, as the documentation of Kinesis recommends. */
async function putWithRetries(kinesis: Kinesis, StreamName: string, batch: PutRecordsRequestEntry[]): Promise<void> {
  let waiting = batch;
  for (let backOffMs = FIRST_BACK_OFF_MS; ; backOffMs = Math.min(2 * backOffMs, LONGEST_BACK_OFF_MS)) {
    const { Records = [] } = await kinesis.putRecords({ StreamName, Records: waiting });
    waiting = waiting.filter((_, index) => Records[index]!.ErrorCode !== undefined);
    if (waiting.length === 0) return;
    await sleep(Math.random() * backOffMs);
  }
}
