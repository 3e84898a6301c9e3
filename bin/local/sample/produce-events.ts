import { OUT_OF_TIME } from '../../../lambda/producer/failure-tally';
import { MemoryParkingStore, OrderedConsumer } from '../../../lib/core/consumer';
import { listOpenShards } from '../../../lib/core/resharding/open-shards';
import { SampleFailedError } from '../../invalid-input-error';
import { ShardReader } from '../../stream-shards/shard-reader';
import { textTable } from '../../text-table';
import type { KnownProducer } from '../producers-and-indexes';
import type { LocalStack } from '../run-local';
import { failedRecordsText, type RecordAnswer } from './failed-records';

/** An event in the form that the producer accepts. */
export interface ProducedEvent {
  partitionKey: string;
  data: string;
}

/** The maximum size of one invocation in bytes, well below Lambda's limit of 6 MB. */
const MAX_BYTES = 4_000_000;

const PROGRESS_STEP = 5_000;

/** The maximum number of events of one invocation, so that most invocations end before the deadline of the producer. */
const MAX_SIZE = 500;

/**
 * Sends events through the deployed producer, and reads the stream back. The stream must contain every event once, and
 * the events of each partition key in the order of the input.
 */
export async function produceEvents(
  stack: LocalStack,
  { functionPath, streamName }: KnownProducer,
  events: readonly ProducedEvent[],
  print: (line: string) => void,
): Promise<void> {
  const sentByKey = dataByKey(events);
  const started = performance.now();
  let sent = 0;
  for (const records of invocations(roundRobin(sentByKey))) {
    await deliver(stack, functionPath, records);
    sent += records.length;
    if (sent % PROGRESS_STEP < records.length) print(`sent ${sent} of ${events.length} events`);
  }
  const seconds = (performance.now() - started) / 1_000;

  const shards = await listOpenShards(stack.clients.kinesis, streamName);
  const landed = await Promise.all(shards.map(({ shardId }) => readShard(stack, streamName, shardId)));
  const landedByKey = dataByKey(landed.flat());
  for (const [partitionKey, data] of sentByKey) checkKey(partitionKey, data, landedByKey.get(partitionKey) ?? []);

  print('');
  print(
    `${events.length} events of ${sentByKey.size} partition keys through ${functionPath} in ${seconds.toFixed(1)} s`,
  );
  print('every event is in the stream once, and the events of each partition key are in the order of the input');
  const rows = shards.map(({ shardId }, index) => [shardId, landed[index]!.length, dataByKey(landed[index]!).size]);
  for (const line of textTable(['shard', 'events', 'partition keys'], rows)) print(line);
}

/**
 * Invokes the producer, and repeats the invocation with the events that the producer could not send before its
 * deadline.
 */
async function deliver(stack: LocalStack, functionPath: string, records: readonly ProducedEvent[]): Promise<void> {
  for (let rest = records; rest.length > 0; ) {
    const { records: answers } = (await stack.invoke(functionPath, { records: rest })) as { records: RecordAnswer[] };
    const unsent = rest.filter((_, index) => answers[index]!.errorCode === OUT_OF_TIME);
    const failed = answers.filter(({ errorCode }) => errorCode !== undefined);
    if (failed.length > unsent.length || unsent.length === rest.length) {
      throw new SampleFailedError(failedRecordsText('events', answers));
    }
    rest = unsent;
  }
}

function dataByKey(events: readonly ProducedEvent[]): Map<string, string[]> {
  const byKey = new Map<string, string[]>();
  for (const { partitionKey, data } of events) {
    const ofKey = byKey.get(partitionKey);
    if (ofKey === undefined) byKey.set(partitionKey, [data]);
    else ofKey.push(data);
  }
  return byKey;
}

/**
 * Returns the events in an order in which the keys alternate (round-robin), and the events of each key stay in order.
 * With more keys in a request, the producer can send more events in parallel.
 */
function* roundRobin(byKey: ReadonlyMap<string, readonly string[]>): Generator<ProducedEvent> {
  let keys = [...byKey];
  for (let turn = 0; keys.length > 0; turn++) {
    keys = keys.filter(([, data]) => turn < data.length);
    for (const [partitionKey, data] of keys) yield { partitionKey, data: data[turn]! };
  }
}

function* invocations(events: Iterable<ProducedEvent>): Generator<ProducedEvent[]> {
  let records: ProducedEvent[] = [];
  let bytes = 0;
  for (const event of events) {
    const eventBytes = Buffer.byteLength(JSON.stringify(event));
    if (records.length === MAX_SIZE || (records.length > 0 && bytes + eventBytes > MAX_BYTES)) {
      yield records;
      records = [];
      bytes = 0;
    }
    records.push(event);
    bytes += eventBytes;
  }
  if (records.length > 0) yield records;
}

async function readShard({ clients }: LocalStack, streamName: string, shardId: string): Promise<ProducedEvent[]> {
  const events: ProducedEvent[] = [];
  const consumer = new OrderedConsumer(
    ({ partitionKey, data }) => void events.push({ partitionKey, data: Buffer.from(data).toString() }),
    { parking: new MemoryParkingStore() },
  );
  const reader = await ShardReader.begin(clients.kinesis, streamName, shardId, 'TRIM_HORIZON');
  while (!reader.isAtTip) {
    const records = (await reader.read()).map(({ PartitionKey, SequenceNumber, Data }) => ({
      shardId,
      partitionKey: PartitionKey!,
      sequenceNumber: SequenceNumber!,
      data: Data!,
    }));
    await consumer.process(records, { source: streamName });
  }
  return events;
}

function checkKey(partitionKey: string, sent: readonly string[], landed: readonly string[]): void {
  const wrong = sent.findIndex((data, index) => data !== landed[index]);
  if (wrong !== -1) throw new SampleFailedError(`event ${wrong + 1} of partition key ${partitionKey} is out of order`);
  if (landed.length > sent.length) throw new SampleFailedError(`partition key ${partitionKey} has an event twice`);
}
