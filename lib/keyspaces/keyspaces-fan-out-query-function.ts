import { Duration, Stack } from 'aws-cdk-lib';
import * as iam from 'aws-cdk-lib/aws-iam';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';
import { checkOwnEnvironment, constructField } from '../construct/props';
import { TABLES, VALUES } from '../core/contract/function-environment';
import { InvalidArgumentError } from '../core/kernel/errors';
import { allowedTexts, checkAllowedColumns } from '../core/keyspaces/allowed-values';
import type { ShardedKeyspacesConfig } from '../core/keyspaces/sharded-keyspaces-config';
import { addBundledFunction, type BundledFunctionOptions } from '../function/bundled-function';
import { checkEnvironmentSize } from '../function/environment-size';
import { knownConfig, rejectTokens } from '../function/known-config';
import { type IQueryFunction, QueryFunctionBase } from '../function/query-function';
import type { IShardedKeyspacesTable } from './sharded-keyspaces-table';

/**
 * A function that queries sharded tables of Amazon Keyspaces, of this app or imported by
 * `KeyspacesFanOutQueryFunction.fromFunctionArn`.
 */
export interface IKeyspacesFanOutQueryFunction extends IQueryFunction {}

/** Properties of a `KeyspacesFanOutQueryFunction`. */
export interface KeyspacesFanOutQueryFunctionProps extends BundledFunctionOptions {
  /**
   * The tables to query: at least one, no two with the same name. Lambda's limit of 4 KB of environment variables has room
   * for about half a dozen.
   */
  readonly tables: IShardedKeyspacesTable[];

  /**
   * The only values that requests may name, for all `tables`: each an object from a column of the partition key to a string, a
   * number or a boolean. A request may name a value that has all columns of one of them. So `{ tenant: 'a' }` allows every day
   * of the tenant, for a key of tenant and day. The function rejects any other value with the code `VALUE_NOT_ALLOWED` before
   * it reads anything. A `blob` column cannot be bound. Use it to bind a function to a tenant. The values count towards Lambda's
   * limit of 4 KB.
   *
   * @default - requests may name any value
   * @see https://github.com/cdk-even-shards/cdk-even-shards/blob/main/docs/guides/tenants.md
   */
  // biome-ignore lint/suspicious/noExplicitAny: jsii has no map of strings, numbers and booleans
  readonly values?: { [column: string]: any }[];

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
 * A function that queries sharded tables of Amazon Keyspaces: it asks all shards of a value, merges what they return into
 * one order, and answers page by page.
 *
 * Use it to read a sharded table from anywhere, without a Cassandra driver: invoke it with
 * `{ "table": "blogs", "value": { "publish_date": "2020-07-09" } }` and pass the cursor of its answer back for the next
 * page. It connects over TLS, signs in with its own role, and may select from these tables and write to its log group, and
 * nothing else.
 *
 * @throws an error with the code `INVALID_ARGUMENT` if there is no table, if two have the same name, if it cannot be bound to `values`, if one is known to be
 *   in another account or region than the function, and, when the app is synthesized, if their configuration outgrows
 *   Lambda's environment
 *
 * @exampleMetadata fixture=app
 * @example
 * const query = new KeyspacesFanOutQueryFunction(stack, 'Query', { tables: [blogs] });
 * query.grantInvoke(application);
 */
export class KeyspacesFanOutQueryFunction extends QueryFunctionBase implements IKeyspacesFanOutQueryFunction {
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
  public static fromFunctionArn(scope: Construct, id: string, functionArn: string): IKeyspacesFanOutQueryFunction {
    return new ImportedKeyspacesFanOutQueryFunction(scope, id, { functionArn });
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
  ): IKeyspacesFanOutQueryFunction {
    return new ImportedKeyspacesFanOutQueryFunction(scope, id, attributes);
  }

  /** The function: to invoke it or to grant its invocation. */
  public readonly function: lambda.Function;

  /**
   * A function with a role and a log group of its own.
   *
   * @param scope the construct to add the function to, usually `this`
   * @param id the function's name within the scope
   * @param props the tables to query, and how to run
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
    if (values !== undefined) checkBinding(this, values, tables);
    const configs = `{${tables.map((table) => `${JSON.stringify(table.tableName)}:${table.toConfigJson()}`).join()}}`;
    const environment = { [TABLES]: configs, ...(values !== undefined && { [VALUES]: JSON.stringify(values) }) };
    checkEnvironmentSize(
      this,
      field,
      environment,
      `spread the tables${values === undefined ? '' : ' or the values'} over several functions, or count shards for fewer values`,
    );
    this.function = addBundledFunction(
      this,
      {
        bundle: 'keyspaces-query-fanout',
        description: 'Queries all shards of a Cassandra table as if it were one partition',
        environment,
        timeout: Duration.seconds(30),
        memorySize: 1769,
      },
      props,
    );
    for (const table of tables) table.grants.selectRows(this.function);
    if (props.vpc !== undefined) allowToFindEndpoints(this.function);
  }
}

/**
 * In a VPC, Amazon Keyspaces lists the interface endpoints in `system.peers`, which the driver balances its connections over, for
 * whoever may look at them. Neither action takes a resource.
 *
 * Source: the Amazon Keyspaces developer guide, "Using Amazon Keyspaces with interface VPC endpoints".
 */
function allowToFindEndpoints(fn: lambda.Function): void {
  fn.addToRolePolicy(
    new iam.PolicyStatement({
      actions: ['ec2:DescribeNetworkInterfaces', 'ec2:DescribeVpcEndpoints'],
      resources: ['*'],
    }),
  );
}

/** @throws an error with the code `INVALID_ARGUMENT` unless each value is one of a table of the function */
function checkBinding(
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
    // Checks the value against the columns of every table that has them.
    const found = configs.filter((config) => allowedTexts(each, config, value) !== undefined);
    if (found.length > 0) continue;
    throw new InvalidArgumentError(each, value, 'made of columns of the partition key of one of the tables');
  }
}

function checkNames(field: string, tables: readonly IShardedKeyspacesTable[]): void {
  if (tables.length === 0) throw new InvalidArgumentError(field, tables, 'at least one sharded table');
  const names = tables.map(({ tableName }) => tableName);
  if (new Set(names).size === names.length) return;
  const allowed = 'sharded tables with names that differ, use a function for each keyspace whose table names repeat';
  throw new InvalidArgumentError(field, names, allowed);
}

/** A function that queries sharded tables of Amazon Keyspaces that another app has. It adds nothing to the template. */
class ImportedKeyspacesFanOutQueryFunction extends QueryFunctionBase {
  public readonly function: lambda.IFunction;

  constructor(scope: Construct, id: string, attributes: lambda.FunctionAttributes) {
    super(scope, id);
    this.function = lambda.Function.fromFunctionAttributes(this, 'Function', attributes);
  }
}
