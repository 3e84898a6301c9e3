import type { AttributeValue, DynamoDbItem } from '../aws-client/attribute-value';
import { checkClient } from '../aws-client/client-check';
import { isConditionFailure } from '../aws-client/expression';
import { laterFields, withLaterFields } from '../aws-client/later-fields';
import { checkItemFormat } from '../kernel/format-version';
import { IncompleteAnswerError } from '../kernel/incomplete-answer-error';
import { pages } from '../kernel/pages';
import type { IndexQueryInput, IndexQueryOutput, QueryClient, ShardedIndexConfig } from '../sharded-index';
import { adaptiveCountsOf } from './adaptive-config';
import { CorruptShardCountError } from './adaptive-count-errors';
import { checkGrownCount, type GrownCount } from './grown-count';
import type { CountReadOptions, ShardCountReader, ShardCountStore } from './shard-count-store';
import { COUNT_TABLE_INDEX, COUNT_TABLE_VALUE } from './shard-count-table';

/** The input of a PutItem request for one count, in the AWS SDK's terms. */
export interface CountPutItemInput {
  TableName: string;
  // biome-ignore lint/suspicious/noExplicitAny: the SDK's AttributeValue has a further member for unknown types
  Item: Record<string, any>;
  ConditionExpression: string;
  ExpressionAttributeNames: Record<string, string>;
  // biome-ignore lint/suspicious/noExplicitAny: as above
  ExpressionAttributeValues?: Record<string, any>;
}

/** The methods of a DynamoDB client that read and write counts. The AWS SDK's `new DynamoDB({})` fits without an adapter. */
export interface CountTableClient extends QueryClient {
  putItem(input: CountPutItemInput): Promise<object>;
}

/** Reads the counts of an index from its table of counts in DynamoDB. The reader needs the permission to query that table. */
export class DynamoDbShardCountReader implements ShardCountReader {
  readonly countsOf: Pick<ShardedIndexConfig, 'tableName' | 'indexName'>;
  protected readonly tableName: string;
  protected readonly index: AttributeValue;

  /**
   * @param queries the client that sends the requests, such as `new DynamoDB({})` or `lightQueryClient`
   * @param config the configuration that the index emits
   * @throws InvalidArgumentError if `queries` is a document client, or has no `query`
   * @throws InvalidIndexConfigError if the index does not have adaptive counts
   */
  constructor(
    private readonly queries: QueryClient,
    config: ShardedIndexConfig,
  ) {
    checkClient(queries, ['query']);
    this.tableName = adaptiveCountsOf(config).tableName;
    const { tableName, indexName } = config;
    this.countsOf = { tableName, indexName };
    this.index = { S: `${tableName}/${indexName}` };
  }

  async readCounts(options?: CountReadOptions): Promise<GrownCount[]> {
    const all: GrownCount[] = [];
    const read = (from: object | undefined) => this.readCountPage({ ...options, from });
    for await (const { counts } of pages('Query', read, ({ next }) => next)) {
      for (const count of counts) all.push(count);
    }
    return all;
  }

  async readCountPage({
    from,
    limit,
    ...options
  }: CountReadOptions & { from?: unknown; limit?: number }): Promise<{ counts: GrownCount[]; next?: object }> {
    const response = await this.queries.query(
      {
        ...this.queryInput('#index = :index', { '#index': COUNT_TABLE_INDEX }, {}),
        ...(limit !== undefined && { Limit: limit }),
        ...(from !== undefined && { ExclusiveStartKey: from as object }),
      },
      options,
    );
    const { LastEvaluatedKey: next }: IndexQueryOutput = Object(response);
    return { counts: countsOf(response), ...(next && { next }) };
  }

  async readCount(value: string | undefined, options?: CountReadOptions): Promise<GrownCount | undefined> {
    const names = { '#index': COUNT_TABLE_INDEX, '#value': COUNT_TABLE_VALUE };
    const input = this.queryInput('#index = :index AND #value = :value', names, { ':value': { S: keyOf(value) } });
    const [count] = countsOf(await this.queries.query(input, options));
    return count;
  }

  private queryInput(
    condition: string,
    names: Record<string, string>,
    values: Record<string, AttributeValue>,
  ): IndexQueryInput {
    return {
      TableName: this.tableName,
      KeyConditionExpression: condition,
      ExpressionAttributeNames: names,
      ExpressionAttributeValues: { ':index': this.index, ...values },
      ScanIndexForward: true,
      ConsistentRead: true,
      ReturnConsumedCapacity: 'TOTAL',
    };
  }
}

/** @throws IncompleteAnswerError if the response has no `Items`, because such a response looks as if no count had grown */
function countsOf(response: unknown): GrownCount[] {
  const { Items: items }: IndexQueryOutput = Object(response);
  if (!Array.isArray(items)) throw new IncompleteAnswerError('Query', 'Items');
  return items.map(countOf);
}

/**
 * Stores the counts of an index in a DynamoDB table, with one item for each value whose count has grown.
 *
 * The table must have a partition key `index` and a sort key `value`, both of type string. An index with `ShardCounts.adaptive`
 * has such a table.
 */
export class DynamoDbShardCountStore extends DynamoDbShardCountReader implements ShardCountStore {
  constructor(
    private readonly client: CountTableClient,
    config: ShardedIndexConfig,
  ) {
    super(client, config);
    checkClient(client, ['query', 'putItem']);
  }

  async writeCount(count: GrownCount, expected: number): Promise<boolean> {
    const isFirst = expected === 0;
    try {
      await this.client.putItem({
        TableName: this.tableName,
        Item: { ...laterFields<DynamoDbItem>(count, {}), [COUNT_TABLE_INDEX]: this.index, ...itemOf(count) },
        ConditionExpression: isFirst ? 'attribute_not_exists(#version)' : '#version = :version',
        ExpressionAttributeNames: { '#version': 'version' },
        ...(!isFirst && { ExpressionAttributeValues: { ':version': { N: String(expected) } } }),
      });
      return true;
    } catch (error) {
      if (isConditionFailure(error)) return false;
      throw error;
    }
  }
}

const WHOLE_TABLE = '*';
const BEFORE_VALUE = '=';

function keyOf(value: string | undefined): string {
  return value === undefined ? WHOLE_TABLE : BEFORE_VALUE + value;
}

function itemOf({ value, write, read, version, commit, changedBy, changedAt, reason }: GrownCount): DynamoDbItem {
  return {
    [COUNT_TABLE_VALUE]: { S: keyOf(value) },
    write: { N: String(write) },
    read: { N: String(read) },
    version: { N: String(version) },
    commit: { S: commit },
    changedBy: { S: changedBy },
    changedAt: { S: changedAt },
    reason: { S: reason },
  };
}

const WHOLE_NUMBER = /^\d{1,16}$/;

/** @throws CorruptShardCountError if this library did not write the item */
function countOf(item: unknown): GrownCount {
  const attributes: DynamoDbItem = Object(item);
  checkItemFormat('shard count', attributes);
  const { S: sortKey } = Object(attributes[COUNT_TABLE_VALUE]);
  const damaged = (part: string) => new CorruptShardCountError(part, sortKey);
  const text = (name: string): string => {
    const { S: stored } = Object(attributes[name]);
    if (typeof stored !== 'string') throw damaged(`the attribute ${name}`);
    return stored;
  };
  const number = (name: string): number => {
    const { N: stored } = Object(attributes[name]);
    const isWhole = typeof stored === 'string' && WHOLE_NUMBER.test(stored);
    if (!isWhole) throw damaged(`the attribute ${name}`);
    return Number(stored);
  };
  const key = text(COUNT_TABLE_VALUE);
  if (key !== WHOLE_TABLE && !key.startsWith(BEFORE_VALUE)) throw damaged('the key of a value');
  const count: GrownCount = {
    value: key === WHOLE_TABLE ? undefined : key.slice(BEFORE_VALUE.length),
    write: number('write'),
    read: number('read'),
    version: number('version'),
    commit: text('commit'),
    changedBy: text('changedBy'),
    changedAt: text('changedAt'),
    reason: text('reason'),
  };
  checkGrownCount(count, key);
  const known = new Set([COUNT_TABLE_INDEX, COUNT_TABLE_VALUE, ...Object.keys(count)]);
  const others = Object.entries(attributes).filter(([name]) => !known.has(name));
  return withLaterFields(count, Object.fromEntries(others));
}
