import { setTimeout as sleep } from 'node:timers/promises';
import type { Kinesis } from '@aws-sdk/client-kinesis';

/** Source: the quotas of Kinesis. DescribeStreamSummary has a limit of 20 requests per second. */
const POLL_MS = 50;

/** Waits until no change of the stream is in progress. */
export async function waitUntilActive(
  kinesis: Pick<Kinesis, 'describeStreamSummary'>,
  StreamName: string,
): Promise<void> {
  for (;;) {
    const { StreamDescriptionSummary } = await kinesis.describeStreamSummary({ StreamName });
    if (StreamDescriptionSummary?.StreamStatus === 'ACTIVE') return;
    await sleep(POLL_MS);
  }
}
