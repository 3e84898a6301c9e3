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
 * How a `TableItemMover` sees that somebody has written an item between its read and its move. DynamoDB has no version of an item: a
 * condition can compare what was read, but it does not see what was added.
 */
export class ItemVersion {
  /**
   * Every write of an item changes this attribute to a value that it has not had, such as the time of the change.
   *
   * @param name the name of the attribute, which is no part of the table key
   * @throws an error with the code `INVALID_ARGUMENT` unless the name is a text that is not empty
   */
  public static attribute(name: string): ItemVersion {
    if (typeof name === 'string' && name !== '') return new ItemVersion(name);
    throw new InvalidArgumentError('itemVersion.attribute', name, 'the name of an attribute');
  }

  /**
   * No update adds an attribute to an item without changing another: because writers put whole items, or because their updates only
   * change attributes that are there. Then comparing what was read is enough.
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
  /** The table whose items are moved, of this app or imported, in the stack's own account and region. */
  readonly table: IKeyShardedTable;

  /** How the mover sees that somebody has written an item between its read and its move. It depends on the writers, so it has no default. */
  readonly itemVersion: ItemVersion;
}

/**
 * Goes over a table that is sharded by its own key, of any size, and takes each item to the place where a writer would put it, on Step
 * Functions: for the `move` step when its shard count has changed, and to look for items that are elsewhere on a schedule.
 *
 * Start an execution of `stateMachine` with `{}` to move items, or with `{ "mode": "audit" }` to count them. It may run beside any
 * writer that keeps to the counts of the table, and more than once: an item moves whole, in one transaction, while it is as it was
 * read. It judges by the counts that it was deployed with. The segments of the table are a Distributed Map, and each goes on where its
 * last invocation stopped.
 *
 * The function may scan the table, and get, put, delete and check its items, and nothing else.
 *
 * @throws an error with the code `INVALID_ARGUMENT` if a budget is not greater than 0, if the segments or the
 *   timeout are out of bounds, or if the table is known to be in another account or region
 *
 * @exampleMetadata fixture=app
 * @example
 * new TableItemMover(stack, 'Moves', {
 *   table: invoices,
 *   readUnitsPerSecond: 500,
 *   writeUnitsPerSecond: 200,
 *   itemVersion: ItemVersion.attribute('changedAt'),
 * });
 */
export class TableItemMover extends ItemMoverBase {
  /** The function that works on a segment. */
  public readonly function: lambda.Function;

  /** The state machine: to start executions, and to grant their start. */
  public readonly stateMachine: sfn.StateMachine;

  private readonly table: IKeyShardedTable;

  /**
   * A function and a state machine, with roles and log groups of their own.
   *
   * @param scope the construct to add it to, usually `this`
   * @param id its name within the scope
   * @param props the table, and how fast to work on it
   */
  constructor(scope: Construct, id: string, props: TableItemMoverProps) {
    super(scope, id);
    const { table, itemVersion } = props;
    this.table = table;
    checkOwnEnvironment(this, 'table', 'a table', table.table);
    const mover = addItemMover(this, props, {
      property: 'table',
      description: 'Takes the items of a table to their shards',
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
   * Any metric that executions write of the table, by its name: the guide to metrics lists them.
   *
   * Over 5 minutes by default, with the statistic that the guide names; for a metric that the guide does not name, the
   * average.
   *
   * @param metricName its name, such as `HiddenStrays`
   * @param props its statistic, period, label and color
   */
  public metric(metricName: string, props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return storeMetric(this, ITEM_MOVER_METRICS, { table: this.table.table }, metricName, props);
  }
}
