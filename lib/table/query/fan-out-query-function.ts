import { Duration, Stack } from 'aws-cdk-lib';
import type * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';
import type { MetricFamily } from '../../construct/metric-definition';
import { checkedArn, checkOwnEnvironment, constructField, Props } from '../../construct/props';
import { checkAllowedValues } from '../../core/contract/allowed-values';
import { CACHE_MS, INDEXES, TABLES, VALUES } from '../../core/contract/function-environment';
import { QUERY_METRICS } from '../../core/contract/function-metrics';
import { RESERVED_MS } from '../../core/contract/reserved-time';
import { InvalidArgumentError } from '../../core/kernel/errors';
import type { ShardedConfig } from '../../core/sharded-index/config/sharded-index-config';
import { addBundledFunction, type BundledFunctionOptions, oneSecondBefore } from '../../function/bundled-function';
import { configsByName, knownConfig, rejectTokens } from '../../function/known-config';
import { type IQueryFunction, QueryFunctionBase } from '../../function/query-function';
import { checkIndexEnvironment, type IShardedIndex } from '../index/sharded-index';
import type { IKeyShardedTable } from '../key-sharded/key-sharded-table';
import { FAN_OUT_QUERY_METRICS } from '../table-metrics';

/**
 * A function that queries sharded indexes and tables, defined in this app or imported by
 * `FanOutQueryFunction.fromFunctionArn`.
 */
export interface IFanOutQueryFunction extends IQueryFunction {}

/**
 * The base class of functions that query sharded indexes and tables.
 *
 * @internal
 */
export abstract class FanOutQueryFunctionBase extends QueryFunctionBase implements IFanOutQueryFunction {
  /** @internal */
  protected override readonly _metrics: MetricFamily = FAN_OUT_QUERY_METRICS;

  /**
   * Read units that pages have consumed.
   *
   * Sum over 5 minutes by default.
   *
   * @param props the statistic, period, label and color of the metric
   */
  public metricConsumedReadUnits(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric(QUERY_METRICS.consumedReadUnits, props);
  }
}

/** Properties of a `FanOutQueryFunction`. */
export interface FanOutQueryFunctionProps extends BundledFunctionOptions {
  /**
   * The indexes to query, defined in this app or imported, of one or several tables. Their names must differ. Lambda
   * allows 4 KB of environment variables, which is enough for about a dozen indexes and tables together.
   *
   * @default - the function queries only `tables`
   */
  readonly indexes?: IShardedIndex[];

  /**
   * The tables to query, which are sharded by their own key. Each table is defined in this app or imported. An event
   * names a table by its `queryName`, such as `"table": "Invoices"`, so these names must differ.
   *
   * @default - the function queries only `indexes`
   */
  readonly tables?: IKeyShardedTable[];

  /**
   * The only values that requests may name, for all `indexes` and `tables`: different strings and numbers. The string `"1"` and
   * the number 1 are different values. Use this to restrict a function to a tenant.
   *
   * The function rejects a request for another value with the code `VALUE_NOT_ALLOWED` before it reads anything. An index that
   * covers the whole table has no values, so you cannot restrict it. The values count towards the 4 KB of environment variables.
   *
   * @default - requests may name any value
   * @see https://github.com/cdk-even-shards/cdk-even-shards/blob/main/docs/guides/tenants.md
   */
  readonly values?: (string | number)[];

  /**
   * How long the function may return a response from its memory for the same request. Each execution environment has its own
   * cache, which uses at most a quarter of the memory. An event with `"fresh": true` or `"consistentRead": true` always reads
   * DynamoDB.
   *
   * @default - the function caches no responses and reads every page
   */
  readonly cache?: Duration;

  /**
   * How long the function may take for one page, from 2 seconds to 15 minutes. The function reads nothing in its last second.
   *
   * @default - 30 seconds, a little more than the timeout of API Gateway, 29 seconds
   */
  readonly timeout?: Duration;

  /**
   * The memory of the function in MiB, from 128 to 10,240. Lambda assigns processor time in proportion to memory.
   *
   * @default - 1769, which gives the function one whole vCPU. A fan-out query mostly parses responses, on the one thread of
   *   Node.js
   * @see https://docs.aws.amazon.com/lambda/latest/dg/configuration-memory.html
   */
  readonly memorySize?: number;
}

/**
 * A function that queries sharded indexes and tables. It reads all shards of a value, merges the items into one global order,
 * and returns them page by page.
 *
 * Use it to read a sharded index from any language: invoke it with `{ "index": "byStatus", "value": "failed" }`. To get the
 * next page, pass the cursor of the response in the next request. An application in Node.js can also call `fanOutQuery` of
 * `cdk-even-shards/sharded-index` directly. The function has its own role. The permissions of the role only allow querying
 * these indexes and tables, and writing to the log group of the function.
 *
 * @throws an error with the code `INVALID_ARGUMENT` if there is neither an index nor a table, if two indexes or two tables have
 *   the same name, or if `values` cannot restrict an index. At synthesis, also throws this error if the configuration does not
 *   fit into Lambda's 4 KB of environment variables
 *
 * @exampleMetadata fixture=app
 * @example const query = new FanOutQueryFunction(stack, 'Query', { indexes: [index] }); query.grantInvoke(application);
 */
export class FanOutQueryFunction extends FanOutQueryFunctionBase implements IFanOutQueryFunction {
  /**
   * Imports an existing query function of another app by its ARN, to monitor it and to allow its invocation. The import
   * does not create, change or look up resources.
   *
   * The role of the function is unknown, so CDK warns about grants to the function, or rejects such grants. To import
   * the function with its role, use `fromFunctionAttributes`.
   *
   * @param scope the construct to add the query function to, usually `this`
   * @param id the query function's name within the scope
   * @param functionArn the ARN of the function: `functionArn` in the other app
   */
  public static fromFunctionArn(scope: Construct, id: string, functionArn: string): IFanOutQueryFunction {
    return new ImportedFanOutQueryFunction(scope, id, { functionArn });
  }

  /**
   * Imports an existing query function of another app, with its role and its security group. Grants add permissions to
   * the role if the role is in this account and is mutable. Connections use the security group.
   *
   * @param scope the construct to add the query function to, usually `this`
   * @param id the query function's name within the scope
   * @param attributes the attributes of `lambda.Function.fromFunctionAttributes`
   */
  public static fromFunctionAttributes(
    scope: Construct,
    id: string,
    attributes: lambda.FunctionAttributes,
  ): IFanOutQueryFunction {
    return new ImportedFanOutQueryFunction(scope, id, attributes);
  }

  /** The function. Use it to invoke the function or to grant its invocation. */
  public readonly function: lambda.Function;

  /**
   * Creates a function with its own role and log group.
   *
   * @param scope the construct to add the function to, usually `this`
   * @param id the function's name within the scope
   * @param props the indexes and tables, and the settings of the function
   */
  constructor(scope: Construct, id: string, props: FanOutQueryFunctionProps) {
    super(scope, id);
    const field = constructField(this, 'indexes');
    const { indexes = [], tables = [], values } = props;
    const cacheMs = Props.of(this, props).milliseconds('cache', { min: Duration.millis(1), resolved: true });
    checkNames(
      field,
      'indexes',
      indexes.map(({ indexName }) => indexName),
    );
    checkNames(
      constructField(this, 'tables'),
      'tables',
      tables.map(({ queryName }) => queryName),
    );
    if (indexes.length + tables.length === 0) {
      throw new InvalidArgumentError(field, indexes, 'at least one sharded index or table');
    }
    for (const index of indexes) {
      checkIndexEnvironment(this, `indexes.${index.indexName}`, 'an index', index);
    }
    for (const { table, queryName } of tables) {
      checkOwnEnvironment(this, `tables.${queryName}`, 'a table', table);
    }
    if (values !== undefined) checkValuesOfStores(this, values, [...indexes, ...tables]);
    const environment = {
      ...(indexes.length > 0 && { [INDEXES]: configsByName(indexes.map((index) => [index.indexName, index])) }),
      ...(tables.length > 0 && { [TABLES]: configsByName(tables.map((table) => [table.queryName, table])) }),
      ...(values !== undefined && { [VALUES]: JSON.stringify(values) }),
      ...(cacheMs !== undefined && { [CACHE_MS]: String(cacheMs) }),
    };
    const remedy = `divide the indexes${values === undefined ? '' : ' or the values'} among several functions, or set shard counts for fewer values`;
    this.function = addBundledFunction(
      this,
      {
        bundle: 'query-fanout',
        description: 'Queries all shards of sharded indexes and tables',
        environment,
        timeout: Duration.seconds(30),
        minTimeout: oneSecondBefore(RESERVED_MS.query),
        memorySize: 1769,
        largest: { property: 'indexes', remedy },
      },
      props,
    );
    for (const index of [...indexes].sort(byIndexName)) index.grants.query(this.function);
    for (const table of tables) table.shardGrants.query(this.function);
  }
}

function byIndexName(a: IShardedIndex, b: IShardedIndex): number {
  return a.indexName < b.indexName ? -1 : 1;
}

/** @throws an error with the code `INVALID_ARGUMENT` if these values cannot restrict the function */
function checkValuesOfStores(
  scope: FanOutQueryFunction,
  values: unknown,
  stores: readonly { toConfigJson(): string }[],
): void {
  const field = constructField(scope, 'values');
  rejectTokens(field, values);
  checkAllowedValues(field, values);
  const dynamic = values.find((value) => typeof value === 'string' && value.includes('{{resolve:'));
  if (dynamic !== undefined)
    throw new InvalidArgumentError(field, dynamic, 'a value known at synthesis, without a dynamic reference');
  for (const store of stores) {
    const { valueAttribute, indexName } = knownConfig<ShardedConfig>(Stack.of(scope), store.toConfigJson());
    if (valueAttribute !== undefined) continue;
    throw new InvalidArgumentError(field, values, `absent because index ${indexName} covers the whole table`);
  }
}

function checkNames(field: string, what: string, names: readonly string[]): void {
  if (new Set(names).size === names.length) return;
  throw new InvalidArgumentError(
    field,
    names,
    `sharded ${what} with different names (use one function for each table if names repeat)`,
  );
}

/** A query function of another app. The import adds nothing to the template. */
class ImportedFanOutQueryFunction extends FanOutQueryFunctionBase {
  public readonly function: lambda.IFunction;

  constructor(scope: Construct, id: string, attributes: lambda.FunctionAttributes) {
    super(scope, id);
    checkedArn(constructField(this, 'functionArn'), attributes.functionArn, 'lambda');
    this.function = lambda.Function.fromFunctionAttributes(this, 'Function', attributes);
  }
}
