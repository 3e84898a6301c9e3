import { setTimeout as sleep } from 'node:timers/promises';
import type { Kinesis } from '@aws-sdk/client-kinesis';
import type { RepositoryEvent } from '../../examples/repository-outbox/repositories';

const REQUEST_RECORDS = 100;
const BACK_OFF_MS = 100;

/**
 * Writes events without this library: one `PutRecords` request after the other. The writer includes failed records in
 * a later request, as the documentation of `PutRecords` recommends. Before it retries them, it sends the waiting events.
 */
export async function writePlainly(
  kinesis: Kinesis,
  streamName: string,
  events: readonly RepositoryEvent[],
): Promise<void> {
  let waiting = events.map((event) => ({ PartitionKey: event.repository, Data: Buffer.from(JSON.stringify(event)) }));
  while (waiting.length > 0) {
    const sent = waiting.slice(0, REQUEST_RECORDS);
    const { Records = [] } = await kinesis.putRecords({ StreamName: streamName, Records: sent });
    const failed = sent.filter((_, index) => Records[index]!.ErrorCode !== undefined);
    waiting = [...waiting.slice(REQUEST_RECORDS), ...failed];
    if (failed.length > 0) await sleep(BACK_OFF_MS);
  }
}
