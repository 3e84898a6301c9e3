import { Duration, Stack } from 'aws-cdk-lib';
import type * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';
import type { MetricFamily } from '../../construct/metric-definition';
import { checkOwnEnvironment, constructField, Props } from '../../construct/props';
import { checkAllowedValues } from '../../core/contract/allowed-values';
import { CACHE_MS, INDEXES, TABLES, VALUES } from '../../core/contract/function-environment';
import { QUERY_METRICS } from '../../core/contract/function-metrics';
import { InvalidArgumentError } from '../../core/kernel/errors';
import type { ShardedConfig } from '../../core/sharded-index/config/sharded-index-config';
import { addBundledFunction, type BundledFunctionOptions } from '../../function/bundled-function';
import { checkEnvironmentSize } from '../../function/environment-size';
import { knownConfig, rejectTokens } from '../../function/known-config';
import { type IQueryFunction, QueryFunctionBase } from '../../function/query-function';
import { checkIndexEnvironment, type IShardedIndex } from '../index/sharded-index';
import type { IKeyShardedTable } from '../key-sharded/key-sharded-table';
import { FAN_OUT_QUERY_METRICS } from '../table-metrics';

/** A function that queries sharded indexes, of this app or imported by `FanOutQueryFunction.fromFunctionArn`. */
export interface IFanOutQueryFunction extends IQueryFunction {}

/**
 * What every function has that queries sharded indexes, of this app or imported.
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
   * @param props its statistic, period, label and color
   */
  public metricConsumedReadUnits(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric(QUERY_METRICS.consumedReadUnits, props);
  }
}

/** Properties of a `FanOutQueryFunction`. */
export interface FanOutQueryFunctionProps extends BundledFunctionOptions {
  /**
   * The indexes to query, of this app or imported: of one table or several, no two with the same name, in any order.
   * Lambda's limit of 4 KB of environment variables has room for about a dozen indexes and tables together.
   *
   * @default - the function queries only `tables`
   */
  readonly indexes?: IShardedIndex[];

  /**
   * The tables to query that are sharded by their own key, of this app or imported. An event names one by its `queryName`, such
   * as `"table": "Invoices"`, so no two may have the same.
   *
   * @default - the function queries only `indexes`
   */
  readonly tables?: IKeyShardedTable[];

  /**
   * The only values that requests may name, for all `indexes` and `tables`: strings and numbers, each once. The function
   * rejects a request for another value with the code `VALUE_NOT_ALLOWED` before it reads anything. The string `"1"` is
   * another value than the number 1. Use it to bind a function to a tenant. An index that covers the whole table has no value,
   * so it cannot be bound. The values count towards Lambda's limit of 4 KB.
   *
   * @default - requests may name any value
   * @see https://github.com/cdk-even-shards/cdk-even-shards/blob/main/docs/guides/tenants.md
   */
  readonly values?: (string | number)[];

  /**
   * For how long the function may answer a request from its memory that it has answered before. Each execution environment
   * has a cache of its own, of a quarter of the memory at most. An event with `"fresh": true` is read anew, and so is one with
   * `"consistentRead": true`.
   *
   * @default - the function keeps no answers: it reads every page
   */
  readonly cache?: Duration;

  /**
   * How long one page may take to gather.
   *
   * @default - 30 seconds, a little more than the 29 that API Gateway waits for an answer
   */
  readonly timeout?: Duration;

  /**
   * Memory in MiB, and CPU in proportion to it.
   *
   * @default - 1769, which gives the function one whole vCPU: a fan-out query mostly parses answers, on the one thread of Node.js
   * @see https://docs.aws.amazon.com/lambda/latest/dg/configuration-memory.html
   */
  readonly memorySize?: number;
}

/**
 * A function that queries sharded indexes: it asks all shards of a value, merges what they return into one global
 * order, and answers page by page.
 *
 * Use it to read a sharded index from anywhere: invoke it with `{ "index": "byStatus", "value": "failed" }` and pass
 * the cursor of its answer back for the next page. An application in Node.js can also call `fanOutQuery` of
 * `cdk-even-shards/sharded-index` itself. It comes with a role of its own that can query these indexes and write to its log
 * group, and nothing else.
 *
 * @throws an error with the code `INVALID_ARGUMENT` if there is no index, if two have the same name, if it cannot be bound to
 *   `values`, and, when the app is synthesized, if their configuration outgrows Lambda's environment
 *
 * @exampleMetadata fixture=app
 * @example
 * const query = new FanOutQueryFunction(stack, 'Query', { indexes: [index] });
 * query.grantInvoke(application);
 */
export class FanOutQueryFunction extends FanOutQueryFunctionBase implements IFanOutQueryFunction {
  /**
   * Imports a query function that exists, of another app, by its ARN: to watch it, and to allow its invocation. Nothing is
   * created, changed or looked up.
   *
   * Its role is unknown, so CDK warns of what is granted to it, or refuses: see `fromFunctionAttributes`.
   *
   * @param scope the construct to add the query function to, usually `this`
   * @param id the query function's name within the scope
   * @param functionArn the ARN of its function: `functionArn` in the app that has it
   */
  public static fromFunctionArn(scope: Construct, id: string, functionArn: string): IFanOutQueryFunction {
    return new ImportedFanOutQueryFunction(scope, id, { functionArn });
  }

  /**
   * Imports a query function that exists, of another app, with its role and its security group: what is granted to it is added
   * to that role, if the role is of this account and may be changed, and connections are made through that group.
   *
   * @param scope the construct to add the query function to, usually `this`
   * @param id the query function's name within the scope
   * @param attributes the function, as `lambda.Function.fromFunctionAttributes` takes it
   */
  public static fromFunctionAttributes(
    scope: Construct,
    id: string,
    attributes: lambda.FunctionAttributes,
  ): IFanOutQueryFunction {
    return new ImportedFanOutQueryFunction(scope, id, attributes);
  }

  /** The function: to invoke it or to grant its invocation. */
  public readonly function: lambda.Function;

  /**
   * A function with a role and a log group of its own.
   *
   * @param scope the construct to add the function to, usually `this`
   * @param id the function's name within the scope
   * @param props the indexes to query, and how to run
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
    if (values !== undefined) checkBinding(this, values, [...indexes, ...tables]);
    const environment = {
      ...(indexes.length > 0 && { [INDEXES]: configsByName(indexes.map((index) => [index.indexName, index])) }),
      ...(tables.length > 0 && { [TABLES]: configsByName(tables.map((table) => [table.queryName, table])) }),
      ...(values !== undefined && { [VALUES]: JSON.stringify(values) }),
      ...(cacheMs !== undefined && { [CACHE_MS]: String(cacheMs) }),
    };
    checkEnvironmentSize(
      this,
      field,
      environment,
      `spread the indexes${values === undefined ? '' : ' or the values'} over several functions, or count shards for fewer values`,
    );
    this.function = addBundledFunction(
      this,
      {
        bundle: 'query-fanout',
        description: 'Queries all shards of an index as if it were one',
        environment,
        timeout: Duration.seconds(30),
        memorySize: 1769,
      },
      props,
    );
    for (const index of [...indexes].sort(byIndexName)) index.grants.query(this.function);
    for (const table of tables) table.shardGrants.query(this.function);
  }
}

/** The configurations by name, in the order of the names. */
function configsByName(named: readonly (readonly [string, { toConfigJson(): string }])[]): string {
  const sorted = [...named].sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${sorted.map(([name, store]) => `${JSON.stringify(name)}:${store.toConfigJson()}`).join()}}`;
}

function byIndexName(a: IShardedIndex, b: IShardedIndex): number {
  return a.indexName < b.indexName ? -1 : 1;
}

/** @throws an error with the code `INVALID_ARGUMENT` unless a function can be bound to these values */
function checkBinding(
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
    `sharded ${what} with names that differ, use a function for each table whose index names repeat`,
  );
}

/** A function that queries sharded indexes that another app has. It adds nothing to the template. */
class ImportedFanOutQueryFunction extends FanOutQueryFunctionBase {
  public readonly function: lambda.IFunction;

  constructor(scope: Construct, id: string, attributes: lambda.FunctionAttributes) {
    super(scope, id);
    this.function = lambda.Function.fromFunctionAttributes(this, 'Function', attributes);
  }
}
