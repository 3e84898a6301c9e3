import type * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import type * as lambda from 'aws-cdk-lib/aws-lambda';
import type * as sfn from 'aws-cdk-lib/aws-stepfunctions';
import type { Construct } from 'constructs';
import { checkOwnEnvironment } from '../../construct/props';
import { TABLE, VERSION_ATTRIBUTE } from '../../core/contract/function-environment';
import { InvalidArgumentError } from '../../core/kernel/errors';
import type { IKeyShardedTable } from '../key-sharded/key-sharded-table';
import { ITEM_MOVER_METRICS, storeMetric } from '../table-metrics';
import { addItemMover, ItemMoverBase, type ItemMoverOptions } from './item-mover';

/**
 * How a `TableItemMover` detects that an application has written an item after the mover read it. A DynamoDB item has
 * no built-in version. A condition can compare the attributes that the mover read, but it cannot detect attributes that
 * an application added later.
 */
export class ItemVersion {
  /**
   * Compares a version attribute. Every write of an item must change this attribute to a value that the item did not
   * have before, such as the time of the change.
   *
   * @param name the name of the attribute, which must not be part of the table key
   * @throws an error with the code `INVALID_ARGUMENT` if the name is not a string or is empty
   */
  public static attribute(name: string): ItemVersion {
    if (typeof name === 'string' && name !== '') return new ItemVersion(name);
    throw new InvalidArgumentError('itemVersion.attribute', name, 'the name of an attribute');
  }

  /**
   * Compares the attributes that the mover read. Use this for items without a version attribute, and only if every update that
   * adds an attribute to an item also changes an existing attribute. For example, writers put whole items, or their updates
   * change only existing attributes.
   */
  public static none(): ItemVersion {
    return new ItemVersion();
  }

  /** @internal */
  public readonly _attribute?: string;

  private constructor(attribute?: string) {
    if (attribute !== undefined) this._attribute = attribute;
  }
}

/** Properties of a `TableItemMover`. */
export interface TableItemMoverProps extends ItemMoverOptions {
  /**
   * The table whose items are moved. It is defined in this app or imported, and is in the account and region of the
   * stack.
   */
  readonly table: IKeyShardedTable;

  /**
   * How the mover detects that an application has written an item after the mover read it. Only you know the writers, so there is
   * no default.
   */
  readonly itemVersion: ItemVersion;
}

/**
 * Moves each stray of a table that is sharded by its own key to the place where a writer would put it. The table can have any
 * size, because Step Functions processes it in segments. Use it for the `move` step after a shard count has changed, and to
 * find strays on a schedule.
 *
 * Start an execution of `stateMachine` with `{}` to move items, or with `{ "mode": "audit" }` to count them. Executions can run
 * more than once, and while writers write with the counts of the table. The mover moves a whole item in one transaction, and
 * only if the item is unchanged since the mover read it. The mover uses the shard counts with which it was deployed. A
 * Distributed Map processes the segments of the table. The next invocation for a segment continues where the last invocation
 * stopped.
 *
 * The permissions of the function only allow scanning the table, and getting, putting, deleting and checking its items.
 *
 * @throws an error with the code `INVALID_ARGUMENT` if a budget, the number of segments or the timeout is out of bounds. Also
 *   throws this error if the table is known to be in another account or region
 *
 * @exampleMetadata fixture=app
 * @example new TableItemMover(stack, 'Moves', { table: invoices, readUnitsPerSecond: 500, writeUnitsPerSecond: 200,
 *   itemVersion: ItemVersion.attribute('changedAt'), });
 */
export class TableItemMover extends ItemMoverBase {
  /** The function that processes a segment. */
  public readonly function: lambda.Function;

  /** The state machine. Use it to start executions, or to allow a principal to start executions. */
  public readonly stateMachine: sfn.StateMachine;

  private readonly table: IKeyShardedTable;

  /**
   * Creates a function and a state machine, each with its own role and log group.
   *
   * @param scope the parent construct, usually `this`
   * @param id the id within the scope
   * @param props the table, its item version and the budgets
   */
  constructor(scope: Construct, id: string, props: TableItemMoverProps) {
    super(scope, id);
    const { table, itemVersion } = props;
    this.table = table;
    checkOwnEnvironment(this, 'table', 'a table', table.table);
    const mover = addItemMover(this, props, {
      property: 'table',
      description: 'Moves the items of a table to their shards',
      audit: 'Counts the items of a table that are in wrong shards',
      environment: {
        [TABLE]: table.toConfigJson(),
        ...(itemVersion._attribute !== undefined && { [VERSION_ATTRIBUTE]: itemVersion._attribute }),
      },
    });
    this.function = mover.function;
    this.stateMachine = mover.stateMachine;
    table.shardGrants.reshard(this.function);
  }

  /**
   * A metric that executions write for the table. The guide to metrics lists the names.
   *
   * The default period is 5 minutes. The default statistic is in the guide. For a metric that is not in the guide, the
   * default is the average.
   *
   * @param metricName the name of the metric, such as `HiddenStrays`
   * @param props the statistic, period, label and color of the metric
   */
  public metric(metricName: string, props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return storeMetric(this, ITEM_MOVER_METRICS, { table: this.table.table }, metricName, props);
  }
}
