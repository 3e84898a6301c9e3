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
  /**
   * Called with the reason when a report cannot be written, or is not answered within a second. The write that it belongs to
   * is not affected.
   */
  onUnreported?(error: unknown): void;
  /**
   * The time of day in milliseconds since 1970.
   * @default Date.now
   */
  timeOfDay?(): number;
  /**
   * The clock for the wait for the answer to a report.
   * @default the clock of the system
   */
  clock?: Clock;
}

/** The writes of one value in the present minute, in write units. */
interface Tally {
  admitted: number;
  /** Writes that were accepted, but not at the first attempt. */
  retried: number;
  refused: number;
}

const MINUTE_MS = 60_000;

/**
 * The most values that a process reports in a minute. A value needs more than one shard from 1,000 write units a second on.
 * No process writes that much to a hundred values. But a hot partition can throttle thousands of rare values that share it.
 */
const MOST_REPORTS = 100;

/** A small table answers within milliseconds. A write waits no longer than this for the answer to the reports before it. */
const ANSWER_MS = 1_000;

/** How long a report is kept: as long as it is of use, and a while longer for people. */
const KEPT_MS = 24 * 60 * MINUTE_MS;

/**
 * Tells an `AdaptiveShardCountController` about the writes of each value that its index has throttled, exactly and within a
 * minute. Metrics tell about them later, and about some not at all.
 *
 * Send each write of a single item through `watch`:
 *
 *     const reporter = new WriteReporter(dynamoDb, config);
 *     await reporter.watch(order.status, async () =>
 *       documents.put(shardPut([await byStatus.forWriting(order.status)], order)),
 *     );
 *
 * A value costs one write of the table of counts for each minute and process in which it was throttled, and nothing
 * otherwise. If more than 100 values were throttled in a minute, a process reports those that were refused most. Do not
 * watch batches, because their exceptions do not tell which item was throttled.
 */
export class WriteReporter {
  private readonly tableName: string;
  private minute = 0;
  private tallies = new Map<string | undefined, Tally>();

  /**
   * @param client writes the reports, such as `new DynamoDB({})`
   * @param config the configuration that the index emits
   * @throws InvalidArgumentError if the client takes plain objects, as a DynamoDBDocument does, or is not a client
   * @throws InvalidIndexConfigError unless that index has adaptive counts
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
   * Sends a write, and notes whether the index has throttled it. The first write of a minute also reports the minute
   * before.
   *
   * @param value the value of the item; undefined if the index covers the whole table
   * @param send sends the write of one item and returns what the AWS SDK answers
   * @param units the write units that the index consumes for the write: one for each started kilobyte of its entry
   * @returns what `send` returns
   * @throws InvalidArgumentError, or one of its subclasses, before anything is sent, if an argument is invalid
   * @throws what `send` throws
   */
  async watch<T>(value: string | number | undefined, send: () => Promise<T>, units = 1): Promise<T> {
    const name = valueName(this.config, value);
    if (!(Number.isFinite(units) && units > 0)) {
      throw new InvalidArgumentError('units', units, 'a number of write units greater than 0');
    }
    try {
      const answer = await send();
      await this.note(name, attemptsOf(answer) > 1 ? 'retried' : 'admitted', units);
      return answer;
    } catch (error) {
      if (isThrottledByIndex(this.config, error)) await this.note(name, 'refused', units);
      throw error;
    }
  }

  private async note(name: string | undefined, outcome: keyof Tally, units: number): Promise<void> {
    const minute = Math.floor((this.options.timeOfDay ?? Date.now)() / MINUTE_MS) * MINUTE_MS;
    // The time of day can be set back. If minutes were then counted together, the count would be increased beyond what they
    // need.
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
   * Only an exception tells why a write was refused. So retried writes of a value count as throttled if an exception of
   * that minute says that the index has refused the value.
   */
  private async startMinute(minute: number): Promise<void> {
    const [ended, tallies] = [this.minute, this.tallies];
    [this.minute, this.tallies] = [minute, new Map()];
    const throttled = [...tallies].filter(([, { refused }]) => refused > 0);
    const most = throttled.sort(([, a], [, b]) => b.refused - a.refused).slice(0, MOST_REPORTS);
    await Promise.all(most.map(([name, tally]) => this.report(ended, name, tally)));
  }

  private async report(minute: number, name: string | undefined, { admitted, retried, refused }: Tally): Promise<void> {
    const key = reportKey(minute, name);
    // The value is so long that it does not fit into a sort key together with the minute.
    if (Buffer.byteLength(key) > MAX_COUNT_TABLE_VALUE_BYTES) return;
    try {
      const answer = this.client.updateItem({
        TableName: this.tableName,
        Key: { [COUNT_TABLE_INDEX]: { S: reportsKey(this.config) }, [COUNT_TABLE_VALUE]: { S: key } },
        UpdateExpression: 'ADD #admitted :admitted, #throttled :throttled SET #expiry = :expiry',
        ExpressionAttributeNames: { '#admitted': ADMITTED, '#throttled': THROTTLED, '#expiry': COUNT_TABLE_EXPIRY },
        ExpressionAttributeValues: {
          ':admitted': { N: String(admitted) },
          ':throttled': { N: String(retried + refused) },
          ':expiry': { N: String(Math.ceil((minute + KEPT_MS) / 1_000)) },
        },
      });
      await callWithin({ ms: ANSWER_MS, clock: this.options.clock }, () => answer);
    } catch (error) {
      this.tell(error);
    }
  }

  /** Calls `onUnreported`. If that throws, the write has succeeded all the same. */
  private tell(error: unknown): void {
    try {
      this.options.onUnreported?.(error);
    } catch {}
  }
}

/** How often the SDK has sent a request, as its answer tells. The answer of another client counts as one attempt. */
function attemptsOf(answer: unknown): number {
  const { attempts }: { attempts?: unknown } = Object(Object(answer).$metadata);
  return typeof attempts === 'number' ? attempts : 1;
}

/**
 * Why DynamoDB refuses a write to a hot partition of an index. Source: the DynamoDB developer guide, "DynamoDB throttling
 * resolution guide".
 */
const HOT_INDEX_PARTITION = 'IndexWriteKeyRangeThroughputExceeded';

/**
 * Whether DynamoDB refused a write because a partition of this index is hot, which its exceptions have told since August
 * 2025. The exception names the index but no key, so only for a write of a single item is it clear which value was
 * throttled.
 *
 * @param error what a write has failed with
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
