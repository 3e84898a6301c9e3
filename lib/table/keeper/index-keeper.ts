import { CfnResource, Duration, RemovalPolicy, Stack, Tokenization } from 'aws-cdk-lib';
import type * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import * as dynamodb from 'aws-cdk-lib/aws-dynamodb';
import * as events from 'aws-cdk-lib/aws-events';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import { DynamoEventSource, type DynamoEventSourceProps } from 'aws-cdk-lib/aws-lambda-event-sources';
import type { Construct, IConstruct } from 'constructs';
import { withDefaults } from '../../construct/blueprint';
import { grantOnKey, TABLE_WRITE_KEY_ACTIONS } from '../../construct/grant-on-key';
import { recoveryUnlessChosen } from '../../construct/kept-table';
import type { MetricFamily } from '../../construct/metric-definition';
import { checkedArn, constructField, inConstructTerms, Props } from '../../construct/props';
import { checkAtSynthesis } from '../../construct/synthesis-check';
import { requireTableStream } from '../../construct/table-stream';
import { templateProperties } from '../../construct/template-properties';
import {
  CORRECTS_ITEMS,
  INDEXES,
  KEEPER_TABLE_NAME,
  READ_UNITS_PER_SECOND,
} from '../../core/contract/function-environment';
import { KEEPER_METRICS } from '../../core/contract/function-metrics';
import { RESERVED_MS } from '../../core/contract/reserved-time';
import { InvalidArgumentError } from '../../core/kernel/errors';
import type { ShardedIndexConfig } from '../../core/sharded-index/config/sharded-index-config';
import { checkKeptIndexes } from '../../core/sharded-index/keeper/check-kept-indexes';
import {
  KEEPER_TABLE_KEY,
  KEEPER_TABLE_SORT_KEY,
  KEEPER_TABLE_TIME_TO_LIVE,
} from '../../core/sharded-index/keeper/keeper-store';
import { guardDeployment } from '../../deployment-check/deployment-guard';
import { describeKeptIndexes } from '../../deployment-check/sharding-metadata';
import {
  addBundledFunction,
  BundledFunctionBase,
  type BundledFunctionOptions,
  type IBundledFunction,
  oneSecondBefore,
  runOnSchedule,
} from '../../function/bundled-function';
import { configsByName, knownConfig } from '../../function/known-config';
import { checkIndexEnvironment, type IShardedIndex } from '../index/sharded-index';
import { INDEX_KEEPER_METRICS } from '../table-metrics';

/**
 * An index keeper, defined in this app or imported by `IndexKeeper.fromFunctionArn`. Its metrics are in the namespace
 * `EvenShards`, with the name of the function as the dimension.
 */
export interface IIndexKeeper extends IBundledFunction {}

/**
 * The metrics that a keeper of this app and an imported keeper share.
 *
 * @internal
 */
abstract class IndexKeeperBase extends BundledFunctionBase implements IIndexKeeper {
  /** @internal */
  protected readonly _metrics: MetricFamily = INDEX_KEEPER_METRICS;

  /**
   * Items whose shard attributes the keeper has corrected.
   *
   * Sum over 5 minutes by default.
   *
   * @param props the statistic, period, label and color of the metric
   */
  public metricCorrectedItems(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric(KEEPER_METRICS.correctedItems, props);
  }

  /**
   * The time from a change of an item until the keeper has checked the item. During this time, a query does not find a
   * new item.
   *
   * Maximum over 5 minutes by default.
   *
   * @param props the statistic, period, label and color of the metric
   */
  public metricCorrectionDelay(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric(KEEPER_METRICS.delay, props);
  }

  /**
   * Items that are set aside because another program undoes the corrections.
   *
   * Maximum over 5 minutes by default.
   *
   * @param props the statistic, period, label and color of the metric
   */
  public metricContestedItems(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric(KEEPER_METRICS.contestedItems, props);
  }

  /**
   * 1 while the whole table must be checked, and no person has started the sweep.
   *
   * Maximum over 5 minutes by default.
   *
   * @param props the statistic, period, label and color of the metric
   */
  public metricSweepDue(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric(KEEPER_METRICS.sweepDue, props);
  }
}

/** Properties of an `IndexKeeper`. */
export interface IndexKeeperProps extends BundledFunctionOptions {
  /**
   * All sharded indexes of one table, defined in this app or imported. The table must be in the account and region of
   * the stack. A `TableV2` of this app without a stream gets a stream with both images. An imported table must have
   * `tableStreamArn`.
   */
  readonly indexes: IShardedIndex[];

  /**
   * Whether the keeper corrects items. If `false`, the keeper counts the items that it would correct, and names
   * some of them.
   *
   * @default true
   */
  readonly correct?: boolean;

  /**
   * Whether all writers of the table write in the region of the keeper. Set it to `true` for a table with replicas. In
   * such a table, the last write of an item wins in all regions. So a correction could undo a write that another region
   * has accepted at the same time. Multi-Region strong consistency prevents this.
   *
   * @default false: synthesis rejects a table with replicas, unless the table has multi-Region strong consistency
   */
  readonly allWritersInRegion?: boolean;

  /**
   * The maximum number of changes in a batch: 1 to 10,000.
   *
   * @default 1000
   */
  readonly batchSize?: number;

  /**
   * The number of batches that Lambda processes in parallel for each shard of the table's stream, from 1 to 10.
   *
   * @default 1
   */
  readonly parallelizationFactor?: number;

  /**
   * The maximum number of read units a second of a sweep: a number greater than 0. A sweep checks all items of the
   * table. Below 11 units, a sweep can need more if items have more than 4 KB: it reads at least one item in each minute.
   *
   * @default 100
   */
  readonly sweepReadUnitsPerSecond?: number;

  /**
   * The encryption of the keeper's own table at rest. The table contains keys of items.
   *
   * @default - DynamoDB encrypts the table with a key that DynamoDB owns
   */
  readonly encryption?: dynamodb.TableEncryptionV2;

  /**
   * How long one invocation may take, from 11 seconds to 15 minutes.
   *
   * @default - 1 minute
   */
  readonly timeout?: Duration;

  /**
   * The memory of the function in MiB, from 128 to 10,240. Lambda assigns processor time in proportion to memory.
   *
   * @default 512
   */
  readonly memorySize?: number;
}

const MAX_BATCH_CHANGES = 10_000;
const MAX_BATCHES_OF_SHARD = 10;

/**
 * Gives each item of a table the shard attributes of its sharded indexes, so that writers in any language need to know
 * nothing about shards: they put, update and delete items as before.
 *
 * A function reads the stream of the table. It corrects an item only if queries do not find the item, or find it under
 * an outdated value. It changes only shard attributes, and only while the item is unchanged. Its own changes cause no
 * further write. A new item is missing from the indexes until the function has processed its change.
 *
 * After the first deployment, and after a gap in the stream, the keeper reports that a sweep is due. Start the sweep
 * with `{ "sweep": true }`. Invoke the function with `{ "list": true }` to see the items that it cannot keep.
 *
 * The function may read the table's stream, scan the table, get and update its items, and use its own table.
 *
 * @throws an error with the code `INVALID_ARGUMENT` if a property is out of bounds, if the indexes belong to several
 *   tables, or if the table has no stream. The same error is thrown for a table with replicas, unless
 *   `allWritersInRegion` is `true`
 *
 * @stateful
 *
 * @exampleMetadata fixture=app
 * @example
 * new IndexKeeper(stack, 'Keeper', { indexes: [index] });
 */
export class IndexKeeper extends IndexKeeperBase implements IIndexKeeper {
  /**
   * Imports an existing keeper of another app by its ARN, to monitor it and to allow its invocation. The import does
   * not create, change or look up resources.
   *
   * @param scope the construct to add the keeper to, usually `this`
   * @param id the keeper's name within the scope
   * @param functionArn the ARN of the function: `functionArn` in the other app
   */
  public static fromFunctionArn(scope: Construct, id: string, functionArn: string): IIndexKeeper {
    return new ImportedIndexKeeper(scope, id, functionArn);
  }

  /** The function that keeps the items. */
  public readonly function: lambda.Function;

  /** The keeper's own table: its state, and the keys of items that it reports. */
  public readonly keeperTable: dynamodb.TableV2;

  /**
   * The table of the indexes.
   *
   * @internal
   */
  public readonly _table: dynamodb.ITableV2;

  /**
   * Creates a function with its own role, log group and schedule, and a table for its state.
   *
   * @param scope the construct to add the keeper to, usually `this`
   * @param id the keeper's name within the scope
   * @param props the indexes, and the settings of the function
   */
  constructor(scope: Construct, id: string, props: IndexKeeperProps) {
    super(scope, id);
    guardDeployment(this);
    const { indexes, table, mapping, sweepReadUnitsPerSecond } = keeperSettings(this, props);
    this._table = table;
    this.keeperTable = addKeeperTable(this, props);
    const environment = {
      [INDEXES]: configsByName(indexes.map((index) => [index.indexName, index])),
      [KEEPER_TABLE_NAME]: this.keeperTable.tableName,
      [CORRECTS_ITEMS]: String(props.correct ?? true),
      [READ_UNITS_PER_SECOND]: Tokenization.stringifyNumber(sweepReadUnitsPerSecond),
    };
    this.function = addBundledFunction(
      this,
      {
        bundle: 'index-keeper',
        description: 'Keeps the items of a table in the shards of its indexes',
        environment,
        timeout: Duration.minutes(1),
        minTimeout: oneSecondBefore(2 * RESERVED_MS.keeper),
        memorySize: 512,
        largest: { property: 'indexes', remedy: 'set shard counts for fewer values' },
      },
      props,
    );
    for (const index of indexes) {
      index.grants.reshard(this.function);
      if (index.shardCountTable !== undefined) index.grants.reportWrites(this.function);
    }
    this.grantOwnTable();
    this.function.addEventSource(new DynamoEventSource(table, mapping));
    runOnSchedule(this, this.function, {
      description: 'Invokes the keeper of an index every minute',
      schedule: events.Schedule.rate(Duration.minutes(1)),
      retryAttempts: 0,
    });
  }

  private grantOwnTable(): void {
    this.keeperTable.grant(this.function, ...OWN_ACTIONS);
    const key = this.keeperTable.encryptionKey;
    if (key) grantOnKey(key, this.function, TABLE_WRITE_KEY_ACTIONS, 'IndexKeeper');
  }
}

/** The DynamoDB actions that the keeper needs on its own table. */
const OWN_ACTIONS = ['GetItem', 'PutItem', 'UpdateItem', 'DeleteItem', 'Query'].map((action) => `dynamodb:${action}`);

/** The checked properties of a keeper, with defaults. Numbers may be tokens. */
interface KeeperSettings {
  readonly indexes: readonly IShardedIndex[];
  readonly table: dynamodb.ITableV2;
  readonly mapping: DynamoEventSourceProps;
  readonly sweepReadUnitsPerSecond: number;
}

function keeperSettings(keeper: IndexKeeper, given: IndexKeeperProps): KeeperSettings {
  const props = Props.of(keeper, given, { batchSize: 1_000, parallelizationFactor: 1, sweepReadUnitsPerSecond: 100 });
  const indexes = [...(given.indexes ?? [])].sort((a, b) => (a.indexName < b.indexName ? -1 : 1));
  const stack = Stack.of(keeper);
  const [first] = indexes;
  if (first === undefined) throw props.refusal('indexes', indexes, 'at least one sharded index');
  // A program in JavaScript can pass a KeyShardedTable, which has no index name.
  if (indexes.some(({ indexName }) => indexName === undefined)) {
    throw props.refusal('indexes', 'a KeyShardedTable', ONLY_INDEXES);
  }
  const nameOf = ({ table }: IShardedIndex) => JSON.stringify(stack.resolve(table.tableName));
  const other = indexes.find((index) => nameOf(index) !== nameOf(first));
  if (other !== undefined)
    throw props.refusal('indexes', other.indexName, `indexes of the table of ${first.indexName}`);
  for (const index of indexes) checkIndexEnvironment(keeper, 'indexes', 'an index', index);
  inConstructTerms(keeper, 'indexes', () =>
    checkKeptIndexes(indexes.map((index) => knownConfig<ShardedIndexConfig>(stack, index.toConfigJson()))),
  );
  const { table } = first;
  const resource = table.node.defaultChild;
  if (resource instanceof dynamodb.CfnGlobalTable) {
    turnOnStream(resource);
    if (given.correct !== false) {
      describeKeptIndexes(
        resource,
        indexes.map(({ indexName }) => indexName),
      );
    }
  }
  if (given.allWritersInRegion !== true) checkReplicas(keeper, table);
  requireTableStream(keeper, table);
  return {
    indexes,
    table,
    mapping: {
      startingPosition: lambda.StartingPosition.TRIM_HORIZON,
      batchSize: props.whole('batchSize', { min: 1, max: MAX_BATCH_CHANGES }),
      parallelizationFactor: props.whole('parallelizationFactor', { min: 1, max: MAX_BATCHES_OF_SHARD }),
      reportBatchItemFailures: true,
    },
    sweepReadUnitsPerSecond: props.number('sweepReadUnitsPerSecond', { above: 0 }),
  };
}

const ONLY_INDEXES = 'sharded indexes (a keeper cannot keep a table by its own key, because no update changes a key)';

/** Gives a table of this app a stream with both images, unless the table has a stream. */
function turnOnStream(resource: dynamodb.CfnGlobalTable): void {
  if (Stack.of(resource).resolve(resource.streamSpecification) !== undefined) return;
  resource.streamSpecification = { streamViewType: dynamodb.StreamViewType.NEW_AND_OLD_IMAGES };
}

/**
 * Adds a check to synthesis: a table of this app with replicas needs multi-Region strong consistency, or writers in one
 * region. The check runs at synthesis, because a replica can be added later.
 */
function checkReplicas(keeper: IConstruct, table: dynamodb.ITable): void {
  checkAtSynthesis(keeper, () => {
    if (!hasReplicas(table)) return;
    throw new InvalidArgumentError(
      constructField(keeper, 'allWritersInRegion'),
      false,
      'true for a table with replicas (in an eventually consistent global table, a correction could undo a concurrent write of another region)',
    );
  });
}

/** Whether a table of this app has replicas that are only eventually consistent. A `Table` has them as custom resources. */
function hasReplicas(table: dynamodb.ITable): boolean {
  const resource = table.node.defaultChild;
  if (resource instanceof dynamodb.CfnGlobalTable) {
    const { Replicas, MultiRegionConsistency } = templateProperties<{
      Replicas?: unknown[];
      MultiRegionConsistency?: unknown;
    }>(resource);
    return (Replicas?.length ?? 0) > 1 && MultiRegionConsistency !== 'STRONG';
  }
  const isReplica = (each: IConstruct) => CfnResource.isCfnResource(each) && each.cfnResourceType === REPLICA;
  return table.node.findAll().some(isReplica);
}

/** The type of a replica of a `Table`. Source: aws-cdk-lib, `Table.replicationRegions`. */
const REPLICA = 'Custom::DynamoDBReplica';

/** Adds the keeper's own table. It is deleted with the keeper, because a sweep finds everything that the table contains. */
function addKeeperTable(keeper: IndexKeeper, { encryption }: IndexKeeperProps): dynamodb.TableV2 {
  const table = new dynamodb.TableV2(
    keeper,
    'Table',
    withDefaults<dynamodb.TablePropsV2>(
      keeper,
      dynamodb.TableV2.PROPERTY_INJECTION_ID,
      {
        partitionKey: { name: KEEPER_TABLE_KEY, type: dynamodb.AttributeType.STRING },
        sortKey: { name: KEEPER_TABLE_SORT_KEY, type: dynamodb.AttributeType.STRING },
        timeToLiveAttribute: KEEPER_TABLE_TIME_TO_LIVE,
        encryption,
        removalPolicy: RemovalPolicy.DESTROY,
      },
      recoveryUnlessChosen,
    ),
  );
  keeper.node.defaultChild = table.node.defaultChild;
  return table;
}

/** A keeper of another app. The import adds nothing to the template. */
class ImportedIndexKeeper extends IndexKeeperBase {
  public readonly function: lambda.IFunction;

  constructor(scope: Construct, id: string, functionArn: string) {
    super(scope, id);
    const checked = checkedArn(constructField(this, 'functionArn'), functionArn, 'lambda');
    this.function = lambda.Function.fromFunctionArn(this, 'Function', checked);
  }
}
