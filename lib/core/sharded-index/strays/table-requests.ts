import type { DynamoDbItem } from '../../aws-client/attribute-value';
import { consumedUnits } from '../../aws-client/consumed-units';
import { projectionOf } from '../../aws-client/expression';
import type { ReadFailure } from '../../fan-out/shard-reader';
import { IncompleteAnswerError } from '../../kernel/incomplete-answer-error';
import { withRetries } from '../../kernel/retries';
import { UnitBudget } from '../../kernel/unit-budget';
import { queryFailure } from '../client/query-failure';
import type { ShardedConfig } from '../config/sharded-index-config';
import type { SegmentPolicy } from './segment-options';
import { strayAttributes } from './stray-of';
import type { StrayReport } from './stray-report';
import type { ItemReadClient, TableScanClient, TableScanOutput } from './table-client';

/**
 * The maximum number of read units of one page, because DynamoDB ends a page at 1 MB. Source: the DynamoDB API
 * reference, Scan.
 */
const PAGE_UNITS = 256;

/** The number of items of the first page if the read budget is small. */
const FIRST_PAGE_ITEMS = 100;

type Projection = ReturnType<typeof projectionOf>;

/** Sends the reads of one scan within its budget, and retries transient failures. */
export class TableRequests {
  private readonly reads: UnitBudget;
  private readonly projection: Projection;
  private pageItems: number | undefined;

  constructor(
    private readonly config: ShardedConfig,
    private readonly policy: SegmentPolicy<never>,
    private readonly report: StrayReport,
  ) {
    const { readUnitsPerSecond = PAGE_UNITS, clock, signal } = policy;
    this.reads = new UnitBudget(policy.readUnitsPerSecond, clock, signal, consumedUnits);
    this.projection = projectionOf(strayAttributes(config));
    this.pageItems = readUnitsPerSecond < PAGE_UNITS ? FIRST_PAGE_ITEMS : undefined;
  }

  /**
   * Reads the page of the segment after a table key. With a small budget, a page costs about the budget of one second.
   */
  async scan(client: TableScanClient, startKey: DynamoDbItem | undefined): Promise<TableScanOutput> {
    const { segment, totalSegments, consistentRead, readUnitsPerSecond } = this.policy;
    const { response: page, units } = await this.read((abortSignal) =>
      client.scan(
        {
          TableName: this.config.tableName,
          Segment: segment,
          TotalSegments: totalSegments,
          ConsistentRead: consistentRead,
          ReturnConsumedCapacity: 'TOTAL',
          ...this.projection,
          ...(startKey && { ExclusiveStartKey: startKey }),
          ...(this.pageItems && { Limit: this.pageItems }),
        },
        abortSignal,
      ),
    );
    // Without this check, a response without `Items` would look like the end of the segment.
    if (!Array.isArray(page?.Items)) throw new IncompleteAnswerError('Scan', 'Items');
    if (this.pageItems !== undefined && page.Items.length > 0 && units > 0) {
      this.pageItems = Math.max(1, Math.floor((page.Items.length / units) * readUnitsPerSecond!));
    }
    return page;
  }

  /** Reads the attributes that determine whether an item is a stray. Returns undefined if the item does not exist. */
  async get(client: ItemReadClient, key: DynamoDbItem): Promise<DynamoDbItem | undefined> {
    return this.item(client, key, this.projection);
  }

  /** Reads all attributes of an item. Returns undefined if the item does not exist. */
  async getWhole(client: ItemReadClient, key: DynamoDbItem): Promise<DynamoDbItem | undefined> {
    return this.item(client, key, {});
  }

  /**
   * Retries a request while its failure is transient.
   *
   * @param failureOf classifies an error
   * @throws Stopped if the request failed and the signal is aborted
   */
  async retry<T>(request: () => Promise<T>, failureOf: (error: unknown) => ReadFailure = queryFailure): Promise<T> {
    return withRetries(this.policy, request, (error) => failureOf(error) === 'final');
  }

  private async item(client: ItemReadClient, key: DynamoDbItem, projection: Partial<Projection>) {
    const { response } = await this.read((abortSignal) =>
      client.getItem(
        {
          TableName: this.config.tableName,
          Key: key,
          ConsistentRead: true,
          ReturnConsumedCapacity: 'TOTAL',
          ...projection,
        },
        abortSignal,
      ),
    );
    return Object(response).Item as DynamoDbItem | undefined;
  }

  private read<T>(
    request: (options: { abortSignal: AbortSignal | undefined }) => Promise<T>,
  ): Promise<{ response: T; units: number }> {
    const { signal } = this.policy;
    return this.retry(async () => {
      const spent = await this.reads.spend(() => request({ abortSignal: signal }));
      this.report.consumedReadUnits += spent.units;
      return spent;
    });
  }
}
