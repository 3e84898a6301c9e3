import { Duration, type IResource, type RemovalPolicy, Resource, Token } from 'aws-cdk-lib';
import * as dynamodb from 'aws-cdk-lib/aws-dynamodb';
import { TableV2 } from 'aws-cdk-lib/aws-dynamodb';
import type * as ec2 from 'aws-cdk-lib/aws-ec2';
import * as iam from 'aws-cdk-lib/aws-iam';
import type * as kinesis from 'aws-cdk-lib/aws-kinesis';
import type * as kms from 'aws-cdk-lib/aws-kms';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';
import { withDefaults } from '../../construct/blueprint';
import { protectWhileRetained, recoveryUnlessChosen, TABLE_WRITE_KEY_ACTIONS } from '../../construct/kept-table';
import { constructField } from '../../construct/props';
import { REGISTRY_TABLE_NAME, STREAM_NAME } from '../../core/contract/function-environment';
import { InvalidArgumentError } from '../../core/kernel/errors';
import {
  ALLOCATE_ALIAS,
  QUERY_ALIAS,
  REGISTRY_TABLE_KEY,
  REGISTRY_TABLE_TIME_TO_LIVE,
} from '../../core/registry/registry-contract';
import { guardDeployment } from '../../deployment-check/deployment-guard';
import { addBundledFunction, type BundledFunctionOptions } from '../../function/bundled-function';
import { orderedStream } from '../stream-checks';
import { grantOnStream } from '../stream-grants';
import { HashKeyRegistryGrants } from './hash-key-registry-grants';

/**
 * A registry of hash keys, of this app or imported by `HashKeyRegistry.fromHashKeyRegistryAttributes`.
 *
 * Give it to an `OrderedProducerFunction`, and name the owner in a record as its `hashKeyOwner`, or invoke its function.
 */
export interface IHashKeyRegistry extends IResource {
  /** The ARN of the function that answers requests. */
  readonly functionArn: string;

  /** The name of the function that answers requests: to invoke it. */
  readonly functionName: string;

  /** The ARN of the table that has the owners. Change the table through the function alone. */
  readonly tableArn: string;

  /** The name of the table that has the owners: for `readOwners` of `cdk-even-shards/registry`. */
  readonly tableName: string;

  /** The customer-managed key that the table is encrypted with, if it has one. */
  readonly encryptionKey?: kms.IKey;

  /** The stream that the keys are for. */
  readonly stream: kinesis.IStreamRef;

  /** Permissions for whatever asks for keys. */
  readonly grants: HashKeyRegistryGrants;
}

/** A registry that exists, as `HashKeyRegistry.fromHashKeyRegistryAttributes` takes it. */
export interface HashKeyRegistryAttributes {
  /** The ARN of the registry's function, without a version or an alias: `functionArn` in the app that has the registry. */
  readonly functionArn: string;

  /** The ARN of the registry's table: `tableArn` in the app that has the registry. */
  readonly tableArn: string;

  /** The stream that the keys are for, of this app or imported. */
  readonly stream: kinesis.IStreamRef;

  /**
   * The customer-managed key that the table is encrypted with. `grants.read` allows decryption with it.
   *
   * @default - the table is encrypted with a key that DynamoDB owns
   */
  readonly encryptionKey?: kms.IKey;
}

/** Properties of a `HashKeyRegistry`. */
export interface HashKeyRegistryProps extends BundledFunctionOptions {
  /**
   * The stream whose shards the owners load evenly. It may be of this app or imported, and is in the registry's own account
   * and region. A stream with the record distribution strategy `AUTO` is rejected, because it ignores explicit hash keys.
   */
  readonly stream: kinesis.IStreamRef;

  /**
   * How the table is encrypted at rest.
   *
   * @default - with a key that DynamoDB owns
   */
  readonly encryption?: dynamodb.TableEncryptionV2;

  /**
   * What becomes of the table when the registry leaves the stack. If the table is deleted, owners get other keys, and their
   * records go to other shards.
   *
   * @default - the table stays in the account
   */
  readonly removalPolicy?: RemovalPolicy;

  /**
   * Whether DynamoDB rejects a request to delete the table.
   *
   * @default - true, unless the removal policy is to destroy it
   */
  readonly deletionProtection?: boolean;

  /**
   * How long one request may take. A change waits its turn while others change the registry.
   *
   * @default - 1 minute
   */
  readonly timeout?: Duration;

  /**
   * Memory in MiB, and CPU in proportion to it. An owner takes about half a kilobyte.
   *
   * @default - 512, room for hundreds of thousands of owners
   */
  readonly memorySize?: number;
}

/**
 * Hands out balanced explicit hash keys for a stream, durably: the same owner (an account, a tenant, a device) always
 * gets the same key, no two owners get the same, and with m owners no shard of k gets more than ceil(m/k), where the MD5 of a
 * few hundred partition keys easily puts twice its share on one.
 *
 * Use it for up to some hundred thousand owners of comparable traffic, or with known weights, whose records must each
 * stay on one shard. Give it to an `OrderedProducerFunction`, and name the owner in a record as its `hashKeyOwner`; or
 * invoke its function, with one of
 *
 * - `{ "action": "allocate", "owners": ["account-1", { "owner": "account-2", "weight": 3 }] }`: their keys, allocated now
 *   unless they have one
 * - `{ "action": "get", "owners": ["account-1"] }`: their keys, null for one without
 * - `{ "action": "release", "owners": ["account-1"] }`: frees their keys for others
 * - `{ "action": "list", "limit"?, "cursor"? }`: all owners, by name
 * - `{ "action": "plan", "mostMoves"? }`: the moves that would make the shards even again, after releases or resharding
 * - `{ "action": "rebalance", "mostMoves"? }`: makes them; records of a moved owner go to another shard from then on.
 *   `failure` in the answer says why it ended before all were made
 * - `{ "action": "move", "owner", "fromHashKey", "toHashKey" }`: makes one, in the middle of a move that keeps order
 *
 * Who may do what: the function has an alias `query` for `get`, `list` and `plan`, and an alias `allocate` for `allocate` and
 * `get`, and rejects other actions by them. `grants` allows the invocation of one of them, or of the function itself.
 *
 * It is correct under any concurrency and wherever a function crashes, with nothing but conditional writes of single
 * items. The stream's shards are read from Kinesis for each request, never predicted. The table can be restored to a point
 * in time, and is retained and protected from deletion unless its properties say otherwise. The function comes with a
 * role of its own that can use this table, list this stream's shards and write to its log group, and nothing else.
 *
 * @throws an error with the code `INVALID_ARGUMENT` if the stream's record distribution strategy is `AUTO`, when it is
 *   constructed or, if that is set later, when the app is synthesized; and if the stream is known to be in another account
 *   or region
 *
 * @stateful
 *
 * @exampleMetadata fixture=app
 * @example
 * const hashKeyRegistry = new HashKeyRegistry(stack, 'HashKeys', { stream });
 * new OrderedProducerFunction(stack, 'Producer', { stream, hashKeyRegistry });
 */
export class HashKeyRegistry extends Resource implements IHashKeyRegistry, ec2.IConnectable {
  /**
   * Imports a registry that exists, of another app. Nothing is created, changed or looked up.
   *
   * @param scope the construct to add the registry to, usually `this`
   * @param id the registry's name within the scope
   * @param attributes the ARNs of the function and the table, and the stream
   */
  public static fromHashKeyRegistryAttributes(
    scope: Construct,
    id: string,
    attributes: HashKeyRegistryAttributes,
  ): IHashKeyRegistry {
    return new ImportedHashKeyRegistry(scope, id, attributes);
  }

  /** The function that answers requests: to invoke it. */
  public readonly function: lambda.Function;

  /** The table that has the owners. Change it through the function alone. */
  public readonly table: dynamodb.TableV2;

  /** The ARN of the function. */
  public readonly functionArn: string;

  /** The name of the function. */
  public readonly functionName: string;

  /** The ARN of the table. */
  public readonly tableArn: string;

  /** The name of the table: for `readOwners` of `cdk-even-shards/registry`. */
  public readonly tableName: string;

  /** The customer-managed key that the table is encrypted with, if it has one. */
  public readonly encryptionKey?: kms.IKey;

  /** The stream that the keys are for. */
  public readonly stream: kinesis.IStreamRef;

  /** Permissions for whatever asks for keys. */
  public readonly grants: HashKeyRegistryGrants;

  /**
   * A table, and a function with a role and a log group of its own.
   *
   * @param scope the construct to add the registry to, usually `this`
   * @param id the registry's name within the scope
   * @param props the stream, how to keep the table, and how to run
   */
  constructor(scope: Construct, id: string, props: HashKeyRegistryProps) {
    super(scope, id);
    guardDeployment(this);
    this.stream = orderedStream(this, props.stream);
    this.table = new dynamodb.TableV2(
      this,
      'Table',
      withDefaults<dynamodb.TablePropsV2>(
        this,
        dynamodb.TableV2.PROPERTY_INJECTION_ID,
        {
          partitionKey: { name: REGISTRY_TABLE_KEY, type: dynamodb.AttributeType.STRING },
          timeToLiveAttribute: REGISTRY_TABLE_TIME_TO_LIVE,
          encryption: props.encryption,
          removalPolicy: props.removalPolicy,
          deletionProtection: props.deletionProtection,
        },
        recoveryUnlessChosen,
      ),
    );
    if (props.deletionProtection === undefined) protectWhileRetained(this.table);
    this.node.defaultChild = this.table.node.defaultChild;
    this.tableArn = this.table.tableArn;
    this.tableName = this.table.tableName;
    this.encryptionKey = this.table.encryptionKey;
    this.function = addBundledFunction(
      this,
      {
        bundle: 'hash-key-registry',
        description: 'Hands out hash keys that load every shard of a stream evenly',
        environment: { [REGISTRY_TABLE_NAME]: this.table.tableName, [STREAM_NAME]: props.stream.streamRef.streamName },
        timeout: Duration.minutes(1),
        memorySize: 512,
      },
      props,
    );
    for (const aliasName of [QUERY_ALIAS, ALLOCATE_ALIAS]) {
      new lambda.Alias(this, `Alias-${aliasName}`, { aliasName, version: this.function.latestVersion });
    }
    this.functionArn = this.function.functionArn;
    this.functionName = this.function.functionName;
    this.grants = HashKeyRegistryGrants._of(this, {
      table: this.table,
      invoked: (alias) =>
        alias === undefined ? this.function : (this.node.findChild(`Alias-${alias}`) as lambda.Alias),
    });
    this.grantOwnWork();
  }

  /** The network connections of the function, if it runs in a VPC. */
  public get connections(): ec2.Connections {
    return this.function.connections;
  }

  private grantOwnWork(): void {
    iam.Grant.addToPrincipal({
      grantee: this.function,
      actions: ['dynamodb:GetItem', 'dynamodb:PutItem', 'dynamodb:Scan'],
      resourceArns: [this.table.tableArn],
    });
    this.table.encryptionKey?.grant(this.function, ...TABLE_WRITE_KEY_ACTIONS);
    grantOnStream(this.stream, this.function, ['kinesis:ListShards']);
  }
}

/** A registry that another app has. It adds nothing to the template. */
class ImportedHashKeyRegistry extends Resource implements IHashKeyRegistry {
  public readonly functionArn: string;
  public readonly functionName: string;
  public readonly tableArn: string;
  public readonly tableName: string;
  public readonly encryptionKey?: kms.IKey;
  public readonly stream: kinesis.IStreamRef;
  public readonly grants: HashKeyRegistryGrants;

  constructor(scope: Construct, id: string, attributes: HashKeyRegistryAttributes) {
    const { functionArn, tableArn, encryptionKey, stream } = attributes;
    super(scope, id, { environmentFromArn: functionArn });
    checkUnqualified(constructField(this, 'functionArn'), functionArn);
    this.functionArn = functionArn;
    this.functionName = LambdaFunction.fromFunctionArn(this, 'Function', functionArn).functionName;
    this.tableArn = tableArn;
    this.tableName = TableV2.fromTableArn(this, 'Table', tableArn).tableName;
    this.encryptionKey = encryptionKey;
    this.stream = stream;
    this.grants = HashKeyRegistryGrants._of(this);
  }
}

/** The parts of an ARN up to the name of a function; a version or an alias is one more. */
const FUNCTION_ARN_PARTS = 7;

/** Grants name an alias of the function for each kind of request; an ARN of two qualifiers is none. */
function checkUnqualified(field: string, functionArn: string): void {
  if (Token.isUnresolved(functionArn) || functionArn.split(':').length <= FUNCTION_ARN_PARTS) return;
  throw new InvalidArgumentError(field, functionArn, 'the ARN of the function, without a version or an alias');
}
