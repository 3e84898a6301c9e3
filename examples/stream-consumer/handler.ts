import { DynamoDB } from '@aws-sdk/client-dynamodb';
import type { Context, KinesisStreamBatchResponse, KinesisStreamEvent } from 'aws-lambda';
import {
  DynamoDbFenceStore,
  deaggregate,
  deduplicate,
  FenceGate,
  parseFence,
  SequenceHistory,
  type UserRecord,
} from 'cdk-even-shards/consumer';
import { type KeyState, loadState, saveState } from './key-state';

/** A user record, and the position in the event of what it arrived in. */
interface Arrival extends UserRecord {
  position: number;
}

/** Less than the function's timeout, so that a key whose move never ends is let go within one invocation or two. */
const MAX_WAIT_MS = 30_000;

/** What an invocation keeps of its time to save and to answer when records still wait for the end of a move. */
const LAST_SAVE_MS = 5_000;

const gate = new FenceGate({
  store: new DynamoDbFenceStore(new DynamoDB({}), {
    tableName: process.env.MOVES_TABLE_NAME!,
    consumer: 'stream-consumer',
  }),
  maxWaitMs: MAX_WAIT_MS,
  onLetGo: countLetGo,
});

/**
 * Applies the records of a stream to a state for each partition key: each record once, in order, whatever is delivered
 * twice, and while keys move from shard to shard. For that, its producer must number the records (`sequence`).
 *
 * Lambda goes on at the first record that is reported. What was applied behind it comes again and is dropped, because a
 * key's state and how far the key was read are saved in one write.
 */
export async function handler(
  { Records }: KinesisStreamEvent,
  context: Pick<Context, 'getRemainingTimeInMillis'>,
): Promise<KinesisStreamBatchResponse> {
  const signal = AbortSignal.timeout(Math.max(1, context.getRemainingTimeInMillis() - LAST_SAVE_MS));
  const { arrivals, failures } = takeApart(Records);
  const applied = await Promise.all([...byPartitionKey(arrivals)].map(([key, ofKey]) => applyAll(key, ofKey, signal)));
  const first = Math.min(...failures, ...applied.map((failure) => failure ?? Number.POSITIVE_INFINITY));
  const failed = Records[first];
  return { batchItemFailures: failed === undefined ? [] : [{ itemIdentifier: failed.kinesis.sequenceNumber }] };
}

/** The user records, but those behind one of their key that cannot be read; other keys must not wait for it. */
function takeApart(records: KinesisStreamEvent['Records']): { arrivals: Arrival[]; failures: number[] } {
  const arrivals: Arrival[] = [];
  const failures: number[] = [];
  const blockedKeys = new Set<string>();
  for (const [position, { kinesis }] of records.entries()) {
    try {
      const data = Buffer.from(kinesis.data, 'base64');
      for (const record of deaggregate({ partitionKey: kinesis.partitionKey, data })) {
        if (!blockedKeys.has(record.partitionKey)) arrivals.push({ ...record, position });
      }
    } catch (error) {
      console.error('cannot be read:', kinesis.sequenceNumber, error);
      blockedKeys.add(kinesis.partitionKey);
      failures.push(position);
    }
  }
  return { arrivals, failures };
}

function byPartitionKey(arrivals: readonly Arrival[]): Map<string, Arrival[]> {
  const groups = new Map<string, Arrival[]>();
  for (const arrival of arrivals) {
    const group = groups.get(arrival.partitionKey);
    if (group === undefined) groups.set(arrival.partitionKey, [arrival]);
    else group.push(arrival);
  }
  return groups;
}

/** Applies a key's records as far as they can be; returns the position of the first that must come again. */
async function applyAll(
  partitionKey: string,
  arrivals: readonly Arrival[],
  signal: AbortSignal,
): Promise<number | undefined> {
  let rest = arrivals;
  try {
    for await (const run of gate.runs(arrivals, signal)) {
      const failed = await applyRun(partitionKey, run, rest);
      if (failed !== undefined) return failed.position;
      rest = arrivals.slice(arrivals.indexOf(run.at(-1)!) + 1);
    }
    return undefined;
  } catch (error) {
    console.error('was not saved, or waits:', error);
    return (rest[0] ?? arrivals.at(-1)!).position;
  }
}

/** Applies a run in one write, and returns the first record that cannot be applied. Whoever goes past it can come back. */
async function applyRun(
  partitionKey: string,
  run: readonly Arrival[],
  rest: readonly Arrival[],
): Promise<Arrival | undefined> {
  const saved = await loadState(partitionKey);
  const history = new SequenceHistory({ saved: saved.history });
  let { state } = saved;
  let current: Arrival | undefined;
  try {
    for (current of deduplicate(run, history)) state = apply(state, current);
    current = undefined;
  } catch (error) {
    console.error('cannot be applied:', error);
    history.setAside(rest.filter(({ data }) => parseFence(data) === undefined));
  }
  await saveState({ ...saved, state, history: history.toJSON() });
  return current;
}

/** What the records are for: here, how many there were and what the last one said. */
function apply({ count }: KeyState, { data }: UserRecord): KeyState {
  return { count: count + 1, last: JSON.parse(Buffer.from(data).toString()) };
}

/** A metric in CloudWatch's embedded format: a line in the log. */
function countLetGo(): void {
  const metrics = [{ Namespace: 'StreamConsumer', Dimensions: [[]], Metrics: [{ Name: 'MovesLetGo', Unit: 'Count' }] }];
  console.log(JSON.stringify({ _aws: { Timestamp: Date.now(), CloudWatchMetrics: metrics }, MovesLetGo: 1 }));
}
