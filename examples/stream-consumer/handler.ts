import type { KinesisStreamBatchResponse, KinesisStreamEvent } from 'aws-lambda';
import { deaggregate, deduplicate, SequenceHistory, type UserRecord } from 'cdk-even-shards/core';
import { type KeyState, loadState, saveState } from './key-state';

/** A record, and the position in the event of what it arrived in. */
interface Arrival {
  record: UserRecord;
  position: number;
}

/**
 * Applies the records of a stream to a state for each partition key: each record once, in order, whatever is delivered
 * twice. For that, its producer must number the records (`sequence`).
 *
 * Lambda goes on at the first record that is reported. What was applied behind it comes again and is dropped, because a
 * key's state and how far the key was read are saved in one write.
 */
export async function handler({ Records }: KinesisStreamEvent): Promise<KinesisStreamBatchResponse> {
  const { arrivals, failures } = takeApart(Records);
  const applied = await Promise.all([...byPartitionKey(arrivals)].map(([key, ofKey]) => applyAll(key, ofKey)));
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
        if (!blockedKeys.has(record.partitionKey)) arrivals.push({ record, position });
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
    const { partitionKey } = arrival.record;
    const group = groups.get(partitionKey);
    if (group === undefined) groups.set(partitionKey, [arrival]);
    else group.push(arrival);
  }
  return groups;
}

/** Applies a key's records as far as they can be; returns the position of the first that must come again. */
async function applyAll(partitionKey: string, arrivals: readonly Arrival[]): Promise<number | undefined> {
  try {
    const saved = await loadState(partitionKey);
    const history = new SequenceHistory({ saved: saved.history });
    let { state } = saved;
    let failure: number | undefined;
    for (const { record, position } of arrivals) {
      try {
        for (const fresh of deduplicate([record], history)) state = apply(state, fresh);
      } catch (error) {
        console.error('cannot be applied:', partitionKey, error);
        failure = position;
        break;
      }
    }
    await saveState({ ...saved, state, history: history.toJSON() });
    return failure;
  } catch (error) {
    console.error('was not saved:', partitionKey, error);
    return arrivals[0]!.position;
  }
}

/** What the records are for: here, how many there were and what the last one said. */
function apply({ count }: KeyState, { data }: UserRecord): KeyState {
  return { count: count + 1, last: JSON.parse(Buffer.from(data).toString()) };
}
