import { Duration, Stack } from 'aws-cdk-lib';
import * as iam from 'aws-cdk-lib/aws-iam';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';
import { checkedArn, checkOwnEnvironment, constructField } from '../construct/props';
import { TABLES, VALUES } from '../core/contract/function-environment';
import { RESERVED_MS } from '../core/contract/reserved-time';
import { InvalidArgumentError } from '../core/kernel/errors';
import { allowedTexts, checkAllowedColumns } from '../core/keyspaces/allowed-values';
import type { ShardedKeyspacesConfig } from '../core/keyspaces/sharded-keyspaces-config';
import { addBundledFunction, type BundledFunctionOptions, oneSecondBefore } from '../function/bundled-function';
import { configsByName, knownConfig, rejectTokens } from '../function/known-config';
import { type IQueryFunction, QueryFunctionBase } from '../function/query-function';
import type { IShardedKeyspacesTable } from './sharded-keyspaces-table';

/**
 * A function that queries sharded tables of Amazon Keyspaces, defined in this app or imported by
 * `KeyspacesFanOutQueryFunction.fromFunctionArn`.
 */
export interface IKeyspacesFanOutQueryFunction extends IQueryFunction {}

/** Properties of a `KeyspacesFanOutQueryFunction`. */
export interface KeyspacesFanOutQueryFunctionProps extends BundledFunctionOptions {
  /**
   * The tables to query: at least one, with different names. Lambda allows 4 KB of environment variables, which is enough
   * for about six tables.
   */
  readonly tables: IShardedKeyspacesTable[];

  /**
   * The only values that requests may name, for all `tables`. Each value is an object whose properties are columns of the
   * partition key, with strings, numbers or booleans. Use this to restrict a function to a tenant.
   *
   * A request must have all columns of at least one of these values. For example, if the key is a tenant and a day, `{ tenant:
   * 'a' }` allows every day of that tenant. The function rejects any other request with the code `VALUE_NOT_ALLOWED` before it
   * reads anything. A `blob` column cannot be part of these values. The values count towards the 4 KB of environment variables.
   *
   * @default - requests may name any value
   * @see https://github.com/cdk-even-shards/cdk-even-shards/blob/main/docs/guides/tenants.md
   */
  // biome-ignore lint/suspicious/noExplicitAny: jsii has no map of strings, numbers and booleans
  readonly values?: { [column: string]: any }[];

  /**
   * How long the function may take for one page, from 2 seconds to 15 minutes. The function reads nothing in its last second.
   *
   * @default - 30 seconds, a little more than the timeout of API Gateway, 29 seconds
   */
  readonly timeout?: Duration;

  /**
   * The memory of the function in MiB, from 128 to 10,240. Lambda assigns processor time in proportion to memory.
   *
   * @default - 1769, which gives the function one whole vCPU. A fan-out query mostly parses responses, on the one thread of Node.js
   * @see https://docs.aws.amazon.com/lambda/latest/dg/configuration-memory.html
   */
  readonly memorySize?: number;
}

/**
 * A function that queries sharded tables of Amazon Keyspaces. It reads all shards of a value, merges the rows into one order,
 * and returns them page by page.
 *
 * Use it to read a sharded table from any language, without a Cassandra driver. Invoke it with `{ "table": "blogs", "value": {
 * "publish_date": "2020-07-09" } }`, and pass the cursor of the response in the next request to get the next page. The function
 * connects over TLS and signs in with its own role. The permissions of the role only allow reading these tables and writing to
 * the log group of the function.
 *
 * @throws an error with the code `INVALID_ARGUMENT` if there is no table, if two tables have the same name, or if `values` do
 *   not match the tables. Also throws this error if a table is known to be in another account or region than the function, and
 *   at synthesis if the configuration does not fit into Lambda's 4 KB of environment variables
 *
 * @exampleMetadata fixture=app
 * @example const query = new KeyspacesFanOutQueryFunction(stack, 'Query', { tables: [blogs] }); query.grantInvoke(application);
 */
export class KeyspacesFanOutQueryFunction extends QueryFunctionBase implements IKeyspacesFanOutQueryFunction {
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
  public static fromFunctionArn(scope: Construct, id: string, functionArn: string): IKeyspacesFanOutQueryFunction {
    return new ImportedKeyspacesFanOutQueryFunction(scope, id, { functionArn });
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
  ): IKeyspacesFanOutQueryFunction {
    return new ImportedKeyspacesFanOutQueryFunction(scope, id, attributes);
  }

  /** The function. Use it to invoke the function or to grant its invocation. */
  public readonly function: lambda.Function;

  /**
   * Creates a function with its own role and log group.
   *
   * @param scope the construct to add the function to, usually `this`
   * @param id the function's name within the scope
   * @param props the tables, and the settings of the function
   */
  constructor(scope: Construct, id: string, props: KeyspacesFanOutQueryFunctionProps) {
    super(scope, id);
    const field = constructField(this, 'tables');
    checkNames(field, props.tables);
    for (const table of props.tables) {
      checkOwnEnvironment(this, `tables.${table.tableName}`, 'a table', table);
    }
    const tables = [...props.tables].sort((a, b) => (a.tableName < b.tableName ? -1 : 1));
    const { values } = props;
    if (values !== undefined) checkValuesOfTables(this, values, tables);
    const environment = {
      [TABLES]: configsByName(tables.map((table) => [table.tableName, table])),
      ...(values !== undefined && { [VALUES]: JSON.stringify(values) }),
    };
    const remedy = `divide the tables${values === undefined ? '' : ' or the values'} among several functions, or set shard counts for fewer values`;
    this.function = addBundledFunction(
      this,
      {
        bundle: 'keyspaces-query-fanout',
        description: 'Queries all shards of sharded tables of Amazon Keyspaces',
        environment,
        timeout: Duration.seconds(30),
        minTimeout: oneSecondBefore(RESERVED_MS.keyspacesQuery),
        memorySize: 1769,
        largest: { property: 'tables', remedy },
      },
      props,
    );
    for (const table of tables) table.grants.selectRows(this.function);
    if (props.vpc !== undefined) allowDescribingEndpoints(this.function);
  }
}

/**
 * In a VPC, the driver balances its connections over the interface endpoints of Amazon Keyspaces. `system.peers` lists
 * these endpoints only if the role may describe them. Neither of the two actions supports permissions for a single
 * resource.
 *
 * Source: the Amazon Keyspaces developer guide, "Using Amazon Keyspaces with interface VPC endpoints".
 */
function allowDescribingEndpoints(fn: lambda.Function): void {
  fn.addToRolePolicy(
    new iam.PolicyStatement({
      actions: ['ec2:DescribeNetworkInterfaces', 'ec2:DescribeVpcEndpoints'],
      resources: ['*'],
    }),
  );
}

/** @throws an error with the code `INVALID_ARGUMENT` if a value does not match a table of the function */
function checkValuesOfTables(
  scope: KeyspacesFanOutQueryFunction,
  values: unknown,
  tables: readonly IShardedKeyspacesTable[],
): void {
  const field = constructField(scope, 'values');
  rejectTokens(field, values);
  checkAllowedColumns(field, values);
  const configs = tables.map((table) => knownConfig<ShardedKeyspacesConfig>(Stack.of(scope), table.toConfigJson()));
  for (const [index, value] of values.entries()) {
    const each = `${field}[${index}]`;
    // Checks the value against every table that has the columns of the value.
    const found = configs.filter((config) => allowedTexts(each, config, value) !== undefined);
    if (found.length > 0) continue;
    throw new InvalidArgumentError(each, value, 'made of columns of the partition key of one of the tables');
  }
}

function checkNames(field: string, tables: readonly IShardedKeyspacesTable[]): void {
  if (tables.length === 0) throw new InvalidArgumentError(field, tables, 'at least one sharded table');
  const names = tables.map(({ tableName }) => tableName);
  if (new Set(names).size === names.length) return;
  const allowed = 'sharded tables with different names (use one function for each keyspace if names repeat)';
  throw new InvalidArgumentError(field, names, allowed);
}

/** A query function of another app. The import adds nothing to the template. */
class ImportedKeyspacesFanOutQueryFunction extends QueryFunctionBase {
  public readonly function: lambda.IFunction;

  constructor(scope: Construct, id: string, attributes: lambda.FunctionAttributes) {
    super(scope, id);
    checkedArn(constructField(this, 'functionArn'), attributes.functionArn, 'lambda');
    this.function = lambda.Function.fromFunctionAttributes(this, 'Function', attributes);
  }
}
