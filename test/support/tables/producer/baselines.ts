import { backoffMs } from '../../../../lib/core/kernel/backoff';
import type { Clock, ProducerRecord, PutRecordsClient, PutRecordsRequestEntry } from '../../../../lib/core/producer';
import type { FakeKinesis } from '../../../../lib/testing/fake-kinesis';

const STREAM = { StreamName: 'Events' };

const entryOf = ({ partitionKey, data }: ProducerRecord): PutRecordsRequestEntry => ({
  PartitionKey: partitionKey,
  Data: data,
});

/** The seed's algorithm: the first waiting record of each key, wait for the whole answer, go round again. */
export async function cycle(kinesis: FakeKinesis, records: readonly ProducerRecord[]): Promise<void> {
  const lanes = new Map<string, PutRecordsRequestEntry[]>();
  for (const record of records) {
    const lane = lanes.get(record.partitionKey) ?? [];
    lanes.set(record.partitionKey, lane);
    lane.push(entryOf(record));
  }
  for (const lane of lanes.values()) lane.reverse();
  while (lanes.size > 0) {
    const round = [...lanes].slice(0, 500);
    const { Records } = await kinesis.putRecords({ ...STREAM, Records: round.map(([, lane]) => lane.at(-1)!) });
    round.forEach(([key, lane], index) => {
      if (Records![index]!.ErrorCode !== undefined) return;
      lane.pop();
      if (lane.length === 0) lanes.delete(key);
    });
  }
}

/** One record after the other, each with the sequence number of the one before. For one key. */
export async function putRecordChain(kinesis: FakeKinesis, records: readonly ProducerRecord[]): Promise<void> {
  let last: string | undefined;
  for (const record of records) {
    const { SequenceNumber } = await kinesis.putRecord({
      ...STREAM,
      ...entryOf(record),
      SequenceNumberForOrdering: last,
    });
    last = SequenceNumber;
  }
}

/**
 * Batches of 500, eight under way at once, a buffer of 10,000 records; what fails waits with back-off and goes again
 * with whatever is there by then. No order.
 */
export async function unorderedBatches(
  kinesis: PutRecordsClient,
  records: readonly ProducerRecord[],
  clock: Clock,
): Promise<void> {
  interface Waiting {
    entry: PutRecordsRequestEntry;
    attempts: number;
  }
  let next = 0;
  let buffered = 0;
  let ended = 0;
  const ready: Waiting[] = [];
  await new Promise<void>((resolve) => {
    let inFlight = 0;
    const send = async (batch: Waiting[]): Promise<void> => {
      inFlight += 1;
      const { Records } = await kinesis.putRecords({ ...STREAM, Records: batch.map(({ entry }) => entry) });
      inFlight -= 1;
      batch.forEach((waiting, index) => {
        if (Records![index]!.ErrorCode === undefined) {
          buffered -= 1;
          ended += 1;
          return;
        }
        waiting.attempts += 1;
        const delayMs = backoffMs(waiting.attempts, { backoffBaseMs: 50, backoffCapMs: 100, random: Math.random });
        clock.schedule(() => {
          ready.push(waiting);
          go();
        }, delayMs);
      });
      if (ended === records.length) resolve();
      else go();
    };
    const go = (): void => {
      while (inFlight < 8) {
        while (ready.length < 500 && buffered < 10_000 && next < records.length) {
          ready.push({ entry: entryOf(records[next++]!), attempts: 0 });
          buffered += 1;
        }
        if (ready.length === 0) return;
        void send(ready.splice(0, 500));
      }
    };
    go();
  });
}
