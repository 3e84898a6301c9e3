import { setTimeout as sleep } from 'node:timers/promises';
import { deaggregate } from '../../../lib/core/consumer';
import { InvalidArgumentError } from '../../../lib/core/kernel/errors';
import { producersOf } from '../producers-and-indexes';
import type { LocalStack } from '../run-local';
import { shardedConfigs } from '../sharded-configs';
import { putItems } from './load-items';
import { type LoadWatch, Pace } from './load-pace';

/**
 * The ways to put a load. `producer`: the app's producer function sends records. `registry`: the producer function
 * sends records, with an owner of its registry for each key. `put-records`: a simple PutRecords loop sends records,
 * and sends failed records again. `items`: the load puts items that appear in each index of a table.
 */
const WAYS = ['producer', 'registry', 'put-records', 'items'] as const;

export interface LoadOptions {
  readonly way: (typeof WAYS)[number];
  /**
   * The construct path of the producer function, of the stream for PutRecords, or of the table. @default the first such
   * resource of the app
   */
  readonly target?: string;
  /** The number of records or items, 1 to 20,000. */
  readonly records: number;
  /** The number of partition keys, or of values of each index, 1 to 10,000. */
  readonly keys: number;
  /**
   * The exponent of the Zipf distribution, 0 to 5. With 0, all keys have the same load. With 1, the second key has half
   * the load of the first key.
   */
  readonly skew: number;
  /** The size of each record in bytes, 1 to 100,000. */
  readonly bytes: number;
  /** Records per second, 1 to 20,000. @default no limit */
  readonly rate?: number;
}

export interface LoadResult {
  /** How many records or items were put. Fewer than requested if the load was stopped. */
  readonly records: number;
  readonly seconds: number;
  /** How many records were sent again. Absent for a producer function, which retries records itself. */
  readonly sentAgain?: number;
  /** How many records were stored after a later record of the same key. Absent for items. */
  readonly orderViolations?: number;
  /** How many of the put records are missing from the stream. Absent for items. */
  readonly missing?: number;
}

const UNWATCHED: LoadWatch = { signal: new AbortController().signal, onProgress: () => {} };

const BOUNDS = {
  records: [1, 20_000],
  keys: [1, 10_000],
  skew: [0, 5],
  bytes: [1, 100_000],
  rate: [1, 20_000],
} as const;

/** Source: the API reference, PutRecords. */
const BATCH = 500;

/** The maximum size of the records of one invocation, in bytes. Well below Lambda's limit of 6 MB. */
const INVOCATION_BYTES = 4_000_000;

/** The wait of the PutRecords loop after a partial failure. The loop is as simple as in many applications. */
const RETRY_MS = 100;

interface LoadRecord {
  readonly partitionKey: string;
  readonly data: string;
  readonly hashKeyOwner?: string;
}

let runs = 0;

/**
 * Puts a load: records with skewed keys into a stream of the app, or items with skewed values into a table. After it
 * has put records, reads the stream to check the order of these records.
 *
 * @throws InvalidArgumentError for an invalid option, before the load puts the first record or item
 */
export async function runLoad(stack: LocalStack, options: LoadOptions, watch = UNWATCHED): Promise<LoadResult> {
  const target = checkedTarget(stack, options);
  const run = `load-${process.pid}-${++runs}`;
  const pace = new Pace(watch.signal, options.rate);
  const startedAt = new Date(Date.now() - 1_000);
  const startMs = performance.now();
  const secondsUntilNow = () => (performance.now() - startMs) / 1_000;
  if (target.streamName === undefined) {
    const configs = shardedConfigs(stack).flatMap(({ path, config }) => (path === target.target ? [config] : []));
    const put = await putItems(stack, configs, { run, ranks: ranksOf(options), bytes: options.bytes, pace, watch });
    return { ...put, seconds: secondsUntilNow() };
  }
  const { streamName, functionPath } = target;
  const records = recordsOf(run, options);
  const { sentAgain, shardIds, sent } =
    functionPath === undefined
      ? await putByPutRecords(stack, streamName, records, pace, watch)
      : await putByProducer(stack, functionPath, records, pace, watch);
  return {
    records: sent,
    seconds: secondsUntilNow(),
    sentAgain,
    ...(await arrivals(stack, { streamName, shardIds, run, since: startedAt }, sent)),
  };
}

interface LoadTarget {
  readonly way: LoadOptions['way'];
  /** The construct path of a producer function, of a stream or of a table. */
  readonly target: string;
  /** Absent for a table. */
  readonly streamName?: string;
  readonly functionPath?: string;
}

/** All targets that the app has, for each way to put a load. */
export function loadTargets(stack: LocalStack): LoadTarget[] {
  return [
    ...producersOf(stack).flatMap(({ functionPath, streamName, hasRegistry }) =>
      (hasRegistry ? (['producer', 'registry'] as const) : (['producer'] as const)).map((way) => ({
        ...{ way, target: functionPath, streamName, functionPath },
      })),
    ),
    ...stack.streams.map(({ path, name }) => ({ way: 'put-records' as const, target: path, streamName: name })),
    ...[...new Set(shardedConfigs(stack).map(({ path }) => path))].map((target) => ({ way: 'items' as const, target })),
  ];
}

/**
 * The target of a load.
 *
 * @throws InvalidArgumentError if the target does not exist, or if a number is out of its bounds
 */
export function checkedTarget(stack: LocalStack, options: LoadOptions): LoadTarget {
  check(options);
  const { way, target } = options;
  const targets = loadTargets(stack).filter((each) => each.way === way);
  if (targets.length === 0) throw new InvalidArgumentError('way', way, 'a way for which the app has a target');
  const found = target === undefined ? targets[0] : targets.find((each) => each.target === target);
  if (found !== undefined) return found;
  throw new InvalidArgumentError('target', target, `one of ${targets.map((each) => each.target).join(', ')}`);
}

function check(options: LoadOptions): void {
  if (!WAYS.includes(options.way)) throw new InvalidArgumentError('way', options.way, WAYS.join(' or '));
  for (const [field, [least, most]] of Object.entries(BOUNDS)) {
    const value = options[field as keyof typeof BOUNDS];
    if (field === 'rate' && value === undefined) continue;
    const isIn = typeof value === 'number' && value >= least && value <= most;
    if (isIn && (field === 'skew' || Number.isInteger(value))) continue;
    throw new InvalidArgumentError(
      field,
      value,
      `a ${field === 'skew' ? '' : 'whole '}number from ${least} to ${most}`,
    );
  }
}

/**
 * The rank of the key of each record. Each key gets its share of the records. The keys alternate without random
 * numbers, so that the same options give the same load.
 */
function ranksOf({ records, keys, skew }: LoadOptions): number[] {
  const shares = Array.from({ length: keys }, (_, key) => 1 / (key + 1) ** skew);
  const total = shares.reduce((sum, share) => sum + share, 0);
  const credit = shares.map(() => 0);
  return Array.from({ length: records }, () => {
    let next = 0;
    for (let key = 0; key < keys; key++) {
      credit[key]! += shares[key]! / total;
      if (credit[key]! > credit[next]!) next = key;
    }
    credit[next]! -= 1;
    return next;
  });
}

function recordsOf(run: string, options: LoadOptions): LoadRecord[] {
  return ranksOf(options).map((rank, n) => ({
    partitionKey: `${run} ${rank}`,
    data: `${n}`.padEnd(options.bytes, ' '),
    // Use the same owners for every load, because the registry never forgets an owner.
    ...(options.way === 'registry' && { hashKeyOwner: `owner-${rank}` }),
  }));
}

/** The outcome of the puts of a load, before its records are read back. */
interface PutOutcome {
  readonly sentAgain?: number;
  /** How many records or items were sent. */
  readonly sent: number;
  /** The ids of the shards that hold the records of the load. */
  readonly shardIds: ReadonlySet<string>;
}

interface ProducerAnswer {
  readonly records: readonly { readonly shardId?: string; readonly errorCode?: string }[];
}

async function putByProducer(
  stack: LocalStack,
  functionPath: string,
  records: readonly LoadRecord[],
  pace: Pace,
  { signal, onProgress }: LoadWatch,
): Promise<PutOutcome> {
  const shardIds = new Set<string>();
  const perInvocation = pace.batchOf(Math.min(BATCH, Math.floor(INVOCATION_BYTES / (records[0]!.data.length + 200))));
  let sent = 0;
  for (let start = 0; start < records.length; start += perInvocation) {
    await pace.wait(start);
    if (signal.aborted) break;
    let rest = records.slice(start, start + perInvocation);
    while (rest.length > 0) {
      const answer = (await stack.invoke(functionPath, { records: rest })) as ProducerAnswer;
      for (const { shardId } of answer.records) if (shardId !== undefined) shardIds.add(shardId);
      // Sends again the records that the invocation had no time to send. They are the last records of their keys, so
      // the order stays correct.
      rest = rest.filter((_, index) => answer.records[index]!.errorCode !== undefined);
    }
    sent = Math.min(start + perInvocation, records.length);
    onProgress(sent);
  }
  return { sent, shardIds };
}

async function putByPutRecords(
  { clients }: LocalStack,
  StreamName: string,
  records: readonly LoadRecord[],
  pace: Pace,
  { signal, onProgress }: LoadWatch,
): Promise<PutOutcome> {
  const shardIds = new Set<string>();
  let sentAgain = 0;
  let sent = 0;
  let failed: LoadRecord[] = [];
  while (!signal.aborted && (sent < records.length || failed.length > 0)) {
    await pace.wait(sent);
    if (signal.aborted) break;
    const fresh = records.slice(sent, sent + Math.min(pace.batchOf(BATCH), BATCH - failed.length));
    sent += fresh.length;
    // Failed records are sent with the next batch, so they can come after later records of their key.
    const batch = [...fresh, ...failed];
    const { Records = [] } = await clients.kinesis.putRecords({
      StreamName,
      Records: batch.map(({ partitionKey, data }) => ({ PartitionKey: partitionKey, Data: Buffer.from(data) })),
    });
    for (const { ShardId } of Records) if (ShardId !== undefined) shardIds.add(ShardId);
    failed = batch.filter((_, index) => Records[index]!.ErrorCode !== undefined);
    sentAgain += failed.length;
    onProgress(sent - failed.length);
    if (failed.length > 0) await sleep(RETRY_MS);
  }
  return { sentAgain, sent: sent - failed.length, shardIds };
}

/** Reads without the gates, so that these reads do not use the read limits of the app. */
async function arrivals(
  { ungatedClients: { kinesis } }: LocalStack,
  { streamName, shardIds, run, since }: { streamName: string; shardIds: Iterable<string>; run: string; since: Date },
  records: number,
): Promise<{ orderViolations: number; missing: number }> {
  const lastOf = new Map<string, number>();
  const seen = new Set<number>();
  let orderViolations = 0;
  for (const ShardId of shardIds) {
    const start = { StreamName: streamName, ShardId, ShardIteratorType: 'AT_TIMESTAMP', Timestamp: since } as const;
    let { ShardIterator } = await kinesis.getShardIterator(start);
    for (let isEmpty = false; !isEmpty && ShardIterator !== undefined; ) {
      const answer = await kinesis.getRecords({ ShardIterator });
      ShardIterator = answer.NextShardIterator;
      isEmpty = (answer.Records ?? []).length === 0;
      const all = (answer.Records ?? []).flatMap(({ PartitionKey, Data }) =>
        deaggregate({ partitionKey: PartitionKey!, data: Data! }),
      );
      for (const { partitionKey, data } of all) {
        const n = Number(Buffer.from(data).toString());
        if (!partitionKey.startsWith(`${run} `) || seen.has(n)) continue;
        seen.add(n);
        const last = lastOf.get(partitionKey) ?? -1;
        if (n < last) orderViolations += 1;
        else lastOf.set(partitionKey, n);
      }
    }
  }
  return { orderViolations, missing: records - seen.size };
}
