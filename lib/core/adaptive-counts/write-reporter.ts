import { checkClient } from '../aws-client/client-check';
import { callWithin } from '../kernel/call-within';
import type { Clock } from '../kernel/clock';
import { InvalidArgumentError } from '../kernel/errors';
import type { ShardedIndexConfig } from '../sharded-index';
import { adaptiveCountsOf, valueName } from './adaptive-config';
import {
  COUNT_TABLE_EXPIRY,
  COUNT_TABLE_INDEX,
  COUNT_TABLE_VALUE,
  MAX_COUNT_TABLE_VALUE_BYTES,
  reportsKey,
} from './shard-count-table';
import { type BatchRequests, watchedPuts } from './watched-batch';
import { ADMITTED, reportKey, THROTTLED } from './write-report-table';

/** The input of an UpdateItem request for one report, in the AWS SDK's terms. */
export interface ReportUpdateItemInput {
  TableName: string;
  // biome-ignore lint/suspicious/noExplicitAny: the SDK's AttributeValue has a further member for unknown types
  Key: Record<string, any>;
  UpdateExpression: string;
  ExpressionAttributeNames: Record<string, string>;
  // biome-ignore lint/suspicious/noExplicitAny: as above
  ExpressionAttributeValues: Record<string, any>;
}

/** The part of a DynamoDB client that writes reports. The AWS SDK's `new DynamoDB({})` fits without an adapter. */
export interface WriteReportClient {
  updateItem(input: ReportUpdateItemInput): Promise<object>;
}

/** Options of a `WriteReporter`. */
export interface WriteReporterOptions {
  /** Called with the error if a report cannot be written within a second. The watched write is not affected. */
  onUnreported?(error: unknown): void;
  /**
   * The time of day in milliseconds since 1970.
   * @default Date.now
   */
  timeOfDay?(): number;
  /**
   * The clock for the time-out of a report.
   * @default the system clock
   */
  clock?: Clock;
}

/** The writes of one value in the current minute, in write units. */
interface Tally {
  admitted: number;
  /** The writes that were accepted after a retry. */
  retried: number;
  refused: number;
}

const MINUTE_MS = 60_000;

/**
 * The maximum number of values that a process reports per minute. A value needs more than one shard only above 1,000 write
 * units per second, and no process writes so much to a hundred values. But a hot partition can throttle thousands of rare
 * values that share the partition.
 */
const MAX_REPORTS = 100;

/**
 * The time-out of a report. The first write of the next minute waits for the reports of the previous minute. A small table
 * responds within milliseconds.
 */
const TIMEOUT_MS = 1_000;

/**
 * The time to live of a report. The controller needs a report only for a few minutes. Operators can read the report for a day.
 */
const TIME_TO_LIVE_MS = 24 * 60 * MINUTE_MS;

/**
 * Reports the throttled writes of each value to the `AdaptiveShardCountController` of the index, exactly and within a minute.
 * Metrics arrive later, and do not contain all throttled writes.
 *
 * Send each write of a single item through `watch`:
 *
 *     const reporter = new WriteReporter(dynamoDb, config);
 *     await reporter.watch(order.status, async () =>
 *       documents.put(shardPut([await byStatus.forWriting(order.status)], order)),
 *     );
 *
 * Each throttled value costs one write to the table of counts per minute and process. Other values cost nothing. If
 * more than 100 values are throttled in a minute, a process reports the most throttled values.
 *
 * Send batches through `watchBatch`, and send `UnprocessedItems` again as they are:
 *
 *     let RequestItems: BatchWriteCommandInput['RequestItems'] = batch;
 *     while (RequestItems && Object.keys(RequestItems).length > 0) {
 *       const response = await reporter.watchBatch(RequestItems, () => documents.batchWrite({ RequestItems }));
 *       RequestItems = response.UnprocessedItems;
 *     }
 */
export class WriteReporter {
  private readonly tableName: string;
  private minute = 0;
  private tallies = new Map<string | undefined, Tally>();
  /** The put requests of batches that are already counted as throttled. A later batch sends them again. */
  private readonly counted = new WeakSet<object>();

  /**
   * @param client the client that writes the reports, such as `new DynamoDB({})`
   * @param config the configuration that the index emits
   * @throws InvalidArgumentError if `client` is a document client, or has no `updateItem`
   * @throws InvalidIndexConfigError if the index does not have adaptive counts
   */
  constructor(
    private readonly client: WriteReportClient,
    private readonly config: ShardedIndexConfig,
    private readonly options: WriteReporterOptions = {},
  ) {
    checkClient(client, ['updateItem']);
    this.tableName = adaptiveCountsOf(config).tableName;
  }

  /**
   * Sends a write, and records whether the index has throttled the write. The first write of a minute also reports the previous
   * minute.
   *
   * @param value the value of the item; undefined if the index has no value attribute
   * @param send sends the write of one item and returns the response of the AWS SDK
   * @param units the write units that the index consumes for the write: one for each started kilobyte of the index entry
   * @returns the result of `send`
   * @throws InvalidArgumentError, or one of its subclasses, before anything is sent, if an argument is invalid
   * @throws the error of `send`
   */
  async watch<T>(value: string | number | undefined, send: () => Promise<T>, units = 1): Promise<T> {
    const name = valueName(this.config, value);
    checkUnits(units);
    try {
      const response = await send();
      await this.record(name, attemptsOf(response) > 1 ? 'retried' : 'admitted', units);
      return response;
    } catch (error) {
      if (isThrottledByIndex(this.config, error)) await this.record(name, 'refused', units);
      throw error;
    }
  }

  /**
   * Sends a batch of writes, and records which puts DynamoDB has throttled: the `UnprocessedItems` of the response, or all puts if the
   * index has throttled the whole batch. DynamoDB gives no reason for unprocessed items. So they count as throttled by the index, also
   * if another limit has throttled them. The controller never sets more than twice the shards that the writes need.
   *
   * A put that is sent again counts once, if the later batch contains the object of `UnprocessedItems`.
   *
   * @param requests the `RequestItems` of the batch
   * @param send sends the batch and returns the response of the AWS SDK
   * @param units the write units that the index consumes for each put: one for each started kilobyte of the index entry
   * @returns the result of `send`
   * @throws InvalidArgumentError before anything is sent, if `units` is invalid
   * @throws the error of `send`
   */
  async watchBatch<T>(requests: BatchRequests, send: () => Promise<T>, units = 1): Promise<T> {
    checkUnits(units);
    const puts = watchedPuts(this.config, requests);
    try {
      const response = await send();
      const unprocessed = watchedPuts(this.config, Object(response).UnprocessedItems);
      const outcome = attemptsOf(response) > 1 ? 'retried' : 'admitted';
      for (const name of new Set([...puts, ...unprocessed].map((put) => put.name))) {
        const sent = puts.filter((put) => put.name === name);
        const first = sent.filter(({ request }) => !this.counted.has(request)).length;
        const again = sent.length - first;
        // The response does not show which of the unprocessed puts were sent again.
        const refused = Math.max(0, unprocessed.filter((put) => put.name === name).length - again);
        if (refused > 0) await this.record(name, 'refused', refused * units);
        if (first > refused) await this.record(name, outcome, (first - refused) * units);
      }
      for (const { request } of unprocessed) this.counted.add(request);
      return response;
    } catch (error) {
      if (isThrottledByIndex(this.config, error)) {
        for (const { name, request } of puts) {
          if (!this.counted.has(request)) await this.record(name, 'refused', units);
          this.counted.add(request);
        }
      }
      throw error;
    }
  }

  private async record(name: string | undefined, outcome: keyof Tally, units: number): Promise<void> {
    const minute = Math.floor((this.options.timeOfDay ?? Date.now)() / MINUTE_MS) * MINUTE_MS;
    // A new minute also starts if the time of day is set back. Otherwise the report would contain the writes of two minutes,
    // and the controller would increase the count too much.
    const reports = minute === this.minute ? undefined : this.startMinute(minute);
    let tally = this.tallies.get(name);
    if (tally === undefined) {
      tally = { admitted: 0, retried: 0, refused: 0 };
      this.tallies.set(name, tally);
    }
    tally[outcome] += units;
    await reports;
  }

  /**
   * Reports the previous minute, and begins the next minute. Only an exception contains the reason why a write was throttled.
   * So the retried writes of a value count as throttled only if an exception of that minute shows that the index has throttled
   * the value.
   */
  private async startMinute(minute: number): Promise<void> {
    const [ended, tallies] = [this.minute, this.tallies];
    [this.minute, this.tallies] = [minute, new Map()];
    const throttled = [...tallies].filter(([, { refused }]) => refused > 0);
    const most = throttled.sort(([, a], [, b]) => b.refused - a.refused).slice(0, MAX_REPORTS);
    await Promise.all(most.map(([name, tally]) => this.report(ended, name, tally)));
  }

  private async report(minute: number, name: string | undefined, { admitted, retried, refused }: Tally): Promise<void> {
    const key = reportKey(minute, name);
    // Does not report a value if the text of the minute and the value is too long for a sort key.
    if (Buffer.byteLength(key) > MAX_COUNT_TABLE_VALUE_BYTES) return;
    try {
      const response = this.client.updateItem({
        TableName: this.tableName,
        Key: { [COUNT_TABLE_INDEX]: { S: reportsKey(this.config) }, [COUNT_TABLE_VALUE]: { S: key } },
        UpdateExpression: 'ADD #admitted :admitted, #throttled :throttled SET #expiry = :expiry',
        ExpressionAttributeNames: { '#admitted': ADMITTED, '#throttled': THROTTLED, '#expiry': COUNT_TABLE_EXPIRY },
        ExpressionAttributeValues: {
          ':admitted': { N: String(admitted) },
          ':throttled': { N: String(retried + refused) },
          ':expiry': { N: String(Math.ceil((minute + TIME_TO_LIVE_MS) / 1_000)) },
        },
      });
      await callWithin({ ms: TIMEOUT_MS, clock: this.options.clock }, () => response);
    } catch (error) {
      this.notifyUnreported(error);
    }
  }

  /** Calls `onUnreported`, and ignores its errors. */
  private notifyUnreported(error: unknown): void {
    try {
      this.options.onUnreported?.(error);
    } catch {}
  }
}

function checkUnits(units: number): void {
  if (Number.isFinite(units) && units > 0) return;
  throw new InvalidArgumentError('units', units, 'a number of write units greater than 0');
}

/** The number of attempts in a response of the SDK. A response of another client counts as one attempt. */
function attemptsOf(response: unknown): number {
  const { attempts }: { attempts?: unknown } = Object(Object(response).$metadata);
  return typeof attempts === 'number' ? attempts : 1;
}

/**
 * The throttling reason of a write to a hot partition of an index. Source: the DynamoDB developer guide, "DynamoDB
 * throttling resolution guide".
 */
const HOT_INDEX_PARTITION = 'IndexWriteKeyRangeThroughputExceeded';

/**
 * Whether DynamoDB throttled a write because a partition of this index is hot. DynamoDB has written this reason into its
 * exceptions since August 2025. An exception names the index but no key, so the throttled value is known only if the write has a
 * single item.
 *
 * @param error the error of a write
 */
function isThrottledByIndex({ tableName, indexName }: ShardedIndexConfig, error: unknown): boolean {
  const reasons = Object(error).ThrottlingReasons;
  if (!Array.isArray(reasons)) return false;
  return reasons.some((entry) => {
    const { reason, resource } = Object(entry);
    if (reason !== HOT_INDEX_PARTITION || typeof resource !== 'string') return false;
    return resource.endsWith(`:table/${tableName}/index/${indexName}`);
  });
}
