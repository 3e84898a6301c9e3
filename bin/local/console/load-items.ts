import { setTimeout as sleep } from 'node:timers/promises';
import type { WriteRequest } from '@aws-sdk/client-dynamodb';
import type { ShardedConfig } from '../../../lib/core/sharded-index/config/sharded-index-config';
import { toAttributeValue } from '../../../lib/core/sharded-index/query/sort-key-select';
import { shardAttributes } from '../../../lib/core/sharded-index/write/shard-attributes';
import { THROTTLED } from '../../../lib/testing/dynamodb-throttling';
import { fittingItem } from '../fitting-item';
import type { LocalStack } from '../run-local';
import { configForWriting } from '../write-items';
import type { LoadWatch, Pace } from './load-pace';

/** Source: the DynamoDB API reference, BatchWriteItem. */
const BATCH = 25;

/** The wait before a writer repeats throttled writes. */
const RETRY_MS = 100;

interface ItemLoad {
  /** The prefix of the keys of all items. */
  readonly run: string;
  /** For each item, the rank of its value in each index. */
  readonly ranks: readonly number[];
  /** The size of each item without its keys, in bytes. */
  readonly bytes: number;
  readonly pace: Pace;
  readonly watch: LoadWatch;
}

/** Puts items that appear in each index of a table. Like an application, it uses the current shard counts. */
export async function putItems(
  stack: LocalStack,
  configs: readonly ShardedConfig[],
  { run, ranks, bytes, pace, watch: { signal, onProgress } }: ItemLoad,
): Promise<{ readonly records: number; readonly sentAgain: number }> {
  const writers = configs.map((config) => configForWriting(stack, config));
  const data = 'x'.repeat(bytes);
  let sent = 0;
  let sentAgain = 0;
  let waiting: WriteRequest[] = [];
  while (!signal.aborted && (sent < ranks.length || waiting.length > 0)) {
    await pace.wait(sent);
    if (signal.aborted) break;
    const room = Math.min(pace.batchOf(BATCH), BATCH - waiting.length);
    const shards = await Promise.all(writers.map((writer) => writer()));
    const fresh = ranks.slice(sent, sent + room).map((rank, at): WriteRequest => {
      const item = fittingItem(stack, configs, { n: sent + at, rank, run: `${run}-` });
      const whole = Object.assign({}, item, ...shards.map((config) => shardAttributes(config, item)), { data });
      const Item = Object.entries<string | number | Uint8Array>(whole).map(([name, each]) => [
        name,
        toAttributeValue(each),
      ]);
      return { PutRequest: { Item: Object.fromEntries(Item) } };
    });
    sent += fresh.length;
    waiting = await putBatch(stack, configs[0]!.tableName, [...waiting, ...fresh]);
    sentAgain += waiting.length;
    onProgress(sent - waiting.length);
    if (waiting.length > 0) await sleep(RETRY_MS);
  }
  return { records: sent - waiting.length, sentAgain };
}

/**
 * Writes a batch. Returns the write requests that the table did not accept: the unprocessed write requests, or all
 * write requests if the whole BatchWriteItem call is throttled.
 */
async function putBatch({ clients }: LocalStack, tableName: string, requests: WriteRequest[]): Promise<WriteRequest[]> {
  try {
    const { UnprocessedItems } = await clients.dynamodb.batchWriteItem({ RequestItems: { [tableName]: requests } });
    return UnprocessedItems?.[tableName] ?? [];
  } catch (error) {
    if ((error as Error).name !== THROTTLED) throw error;
    return requests;
  }
}
