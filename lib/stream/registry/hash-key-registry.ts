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
import { grantOnKey, TABLE_WRITE_KEY_ACTIONS } from '../../construct/grant-on-key';
import { protectWhileRetained, recoveryUnlessChosen } from '../../construct/kept-table';
import { checkedArn, constructField, newConstructField } from '../../construct/props';
import { REGISTRY_TABLE_NAME, STREAM_NAME } from '../../core/contract/function-environment';
import { RESERVED_MS } from '../../core/contract/reserved-time';
import { InvalidArgumentError } from '../../core/kernel/errors';
import {
  ALLOCATE_ALIAS,
  QUERY_ALIAS,
  REGISTRY_TABLE_KEY,
  REGISTRY_TABLE_TIME_TO_LIVE,
} from '../../core/registry/registry-contract';
import { guardDeployment } from '../../deployment-check/deployment-guard';
import { addBundledFunction, type BundledFunctionOptions, oneSecondBefore } from '../../function/bundled-function';
import { orderedStream } from '../stream-checks';
import { grantOnStream } from '../stream-grants';
import { HashKeyRegistryGrants } from './hash-key-registry-grants';

/**
 * A registry of hash keys, defined in this app or imported by `HashKeyRegistry.fromHashKeyRegistryAttributes`.
 *
 * Pass it to an `OrderedProducerFunction` and set the `hashKeyOwner` of each record, or invoke the registry's function.
 */
export interface IHashKeyRegistry extends IResource {
  /** The ARN of the registry's function. */
  readonly functionArn: string;

  /** The name of the registry's function, to invoke it. */
  readonly functionName: string;

  /** The ARN of the table of owners. Change the table only through the function. */
  readonly tableArn: string;

  /** The name of the table of owners, for `readOwners` of `cdk-even-shards/registry`. */
  readonly tableName: string;

  /** The customer-managed key that encrypts the table, if there is one. */
  readonly encryptionKey?: kms.IKey;

  /** The stream to whose shards the hash keys belong. */
  readonly stream: kinesis.IStreamRef;

  /** Permissions for callers of the registry. */
  readonly grants: HashKeyRegistryGrants;
}

/** The attributes of an existing registry, for `HashKeyRegistry.fromHashKeyRegistryAttributes`. */
export interface HashKeyRegistryAttributes {
  /**
   * The ARN of the registry's function, without a version or an alias: `functionArn` in the app that defines the
   * registry.
   */
  readonly functionArn: string;

  /** The ARN of the registry's table: `tableArn` in the app that defines the registry. */
  readonly tableArn: string;

  /** The stream to whose shards the hash keys belong, defined in this app or imported. */
  readonly stream: kinesis.IStreamRef;

  /**
   * The customer-managed key that encrypts the table. `grants.read` allows decryption with this key.
   *
   * @default - DynamoDB encrypts the table with a key that DynamoDB owns
   */
  readonly encryptionKey?: kms.IKey;
}

/** Properties of a `HashKeyRegistry`. */
export interface HashKeyRegistryProps extends BundledFunctionOptions {
  /**
   * The stream over whose shards the registry spreads the owners evenly. It is defined in this app or imported, and is in the
   * account and region of the registry. A stream with the record distribution strategy `AUTO` is rejected, because it ignores
   * explicit hash keys.
   */
  readonly stream: kinesis.IStreamRef;

  /**
   * How the table is encrypted at rest.
   *
   * @default - DynamoDB encrypts the table with a key that DynamoDB owns
   */
  readonly encryption?: dynamodb.TableEncryptionV2;

  /**
   * The removal policy of the table. If the table is deleted, owners receive other keys, and their records go to other
   * shards.
   *
   * @default - the table is retained
   */
  readonly removalPolicy?: RemovalPolicy;

  /**
   * Whether DynamoDB rejects a request to delete the table.
   *
   * @default - true, unless the removal policy is `DESTROY`
   */
  readonly deletionProtection?: boolean;

  /**
   * The timeout of a request, from 2 seconds to 15 minutes. A change waits while other requests change the registry.
   *
   * @default - 1 minute
   */
  readonly timeout?: Duration;

  /**
   * The memory of the function in MiB, from 128 to 10,240. Lambda assigns processor time in proportion to memory. An owner takes about half
   * a kilobyte.
   *
   * @default - 512, enough for hundreds of thousands of owners
   */
  readonly memorySize?: number;
}

/**
 * Allocates balanced explicit hash keys for a stream and stores them. An owner (an account, a tenant, a device) always gets the
 * same key, and no two owners share a key. With m owners and k shards, no shard has more than ceil(m/k) owners. If Kinesis
 * places a few hundred partition keys by their MD5, the hottest shard can easily have twice its share.
 *
 * Use it if all records of an owner must stay on one shard, for up to several hundred thousand owners of similar traffic or
 * known weights. Pass it to an `OrderedProducerFunction` and set the `hashKeyOwner` of each record, or invoke the registry's
 * function with one of these requests:
 *
 * - `{ "action": "allocate", "owners": ["account-1", { "owner": "account-2", "weight": 3 }] }`: returns the keys of the owners,
 *   and allocates missing keys
 * - `{ "action": "get", "owners": ["account-1"] }`: returns the keys of the owners, or null for an owner without a key
 * - `{ "action": "release", "owners": ["account-1"] }`: frees the keys of the owners
 * - `{ "action": "list", "limit"?, "cursor"? }`: lists all owners by name
 * - `{ "action": "plan", "mostMoves"? }`: returns the moves that would make the shards even again after releases or resharding
 * - `{ "action": "rebalance", "mostMoves"? }`: makes these moves. Later records of a moved owner go to another shard. If the
 *   request ended before all moves were made, `failure` in the response contains the reason
 * - `{ "action": "move", "owner", "fromHashKey", "toHashKey" }`: makes one move, as a step of a hand-over that keeps order
 *
 * The function has two aliases, which reject all other actions: `query` for `get`, `list` and `plan`, and `allocate` for
 * `allocate` and `get`. `grants` allows callers to invoke an alias or the function itself.
 *
 * The registry stays correct under concurrent requests and crashes, because it uses conditional writes of single items. It
 * reads the stream's shards from Kinesis for each request. By default the table has point-in-time recovery, is retained, and is
 * protected from deletion. The function has its own role, which only allows using the table, listing the stream's shards, and
 * writing to the log group.
 *
 * @throws an error with the code `INVALID_ARGUMENT` if the stream's record distribution strategy is `AUTO`, or if the stream is
 *   known to be in another account or region
 *
 * @stateful
 *
 * @exampleMetadata fixture=app
 * @example const hashKeyRegistry = new HashKeyRegistry(stack, 'HashKeys', { stream }); new OrderedProducerFunction(stack,
 *   'Producer', { stream, hashKeyRegistry });
 */
export class HashKeyRegistry extends Resource implements IHashKeyRegistry, ec2.IConnectable {
  /**
   * Imports an existing registry of another app. The import does not create, change or look up resources.
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

  /** The registry's function, to invoke it. */
  public readonly function: lambda.Function;

  /** The table of owners. Change it only through the function. */
  public readonly table: dynamodb.TableV2;

  /** The ARN of the function. */
  public readonly functionArn: string;

  /** The name of the function. */
  public readonly functionName: string;

  /** The ARN of the table. */
  public readonly tableArn: string;

  /** The name of the table, for `readOwners` of `cdk-even-shards/registry`. */
  public readonly tableName: string;

  /** The customer-managed key that encrypts the table, if there is one. */
  public readonly encryptionKey?: kms.IKey;

  /** The stream to whose shards the hash keys belong. */
  public readonly stream: kinesis.IStreamRef;

  /** Permissions for callers of the registry. */
  public readonly grants: HashKeyRegistryGrants;

  /**
   * Creates a table, and a function with its own role and log group.
   *
   * @param scope the construct to add the registry to, usually `this`
   * @param id the registry's name within the scope
   * @param props the stream, and the settings of the table and the function
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
        description: 'Allocates hash keys that load the shards of a stream evenly',
        environment: { [REGISTRY_TABLE_NAME]: this.table.tableName, [STREAM_NAME]: props.stream.streamRef.streamName },
        timeout: Duration.minutes(1),
        minTimeout: oneSecondBefore(RESERVED_MS.registry),
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
    const key = this.table.encryptionKey;
    if (key) grantOnKey(key, this.function, TABLE_WRITE_KEY_ACTIONS, 'HashKeyRegistry');
    grantOnStream(this.stream, this.function, ['kinesis:ListShards']);
  }
}

/** A registry of another app. The import adds nothing to the template. */
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
    const field = (property: string) => newConstructField(scope, id, property);
    super(scope, id, { environmentFromArn: checkedArn(field('functionArn'), functionArn, 'lambda') });
    checkedArn(field('tableArn'), tableArn, 'dynamodb');
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

/** The number of parts between the colons in the ARN of a function without a version or an alias. */
const FUNCTION_ARN_PARTS = 7;

/** Grants append an alias to the ARN of the function, so the ARN must not already have a version or an alias. */
function checkUnqualified(field: string, functionArn: string): void {
  if (Token.isUnresolved(functionArn) || functionArn.split(':').length <= FUNCTION_ARN_PARTS) return;
  throw new InvalidArgumentError(field, functionArn, 'the ARN of the function, without a version or an alias');
}
