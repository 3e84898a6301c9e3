import { backoffMs } from '../../../../lib/core/kernel/backoff';
import type { Clock, ProducerRecord, PutRecordsClient, PutRecordsRequestEntry } from '../../../../lib/core/producer';
import type { FakeKinesis } from '../../../../lib/testing/fake-kinesis';

const STREAM = { StreamName: 'Events' };

const entryOf = ({ partitionKey, data }: ProducerRecord): PutRecordsRequestEntry => ({
  PartitionKey: partitionKey,
  Data: data,
});

/**
 * The algorithm of "Guaranteeing Order with Kinesis Bulk Puts": sends the first waiting record of each key in one
 * request, waits for the response, and repeats.
 */
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

/** Puts the records of one key one after the other, each with the sequence number of the previous record. */
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
 * Sends batches of 500 records and does not keep their order, with eight requests in flight and a buffer of 10,000
 * records. A failed record waits for a back-off delay, and is then part of the next batch.
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
