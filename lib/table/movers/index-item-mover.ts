import type * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import type * as lambda from 'aws-cdk-lib/aws-lambda';
import type * as sfn from 'aws-cdk-lib/aws-stepfunctions';
import type { Construct } from 'constructs';
import { INDEX } from '../../core/contract/function-environment';
import { checkIndexEnvironment, type IShardedIndex } from '../index/sharded-index';
import { ITEM_MOVER_METRICS, storeMetric } from '../table-metrics';
import { addItemMover, ItemMoverBase, type ItemMoverOptions } from './item-mover';

/** Properties of an `IndexItemMover`. */
export interface IndexItemMoverProps extends ItemMoverOptions {
  /**
   * The index whose strays are moved. It is defined in this app or imported, and is in the account and region of the
   * stack.
   */
  readonly index: IShardedIndex;
}

/**
 * Reads a table of any size with Step Functions, and gives each stray the shard that a writer would give it. Use it for an
 * index on a table that already has items, to drain shards before a count decreases, and to find strays on a schedule. For a
 * table that is sharded by its own key, use `TableItemMover`.
 *
 * Start an execution of `stateMachine` with `{}` to move strays, or with `{ "mode": "audit" }` to count them. Executions can
 * run more than once, and while writers write, because the mover changes an item only if its value and shard are unchanged
 * since the mover read the item. A Distributed Map processes the segments of the table. The next invocation for a segment
 * continues where the last invocation stopped.
 *
 * The permissions of the function only allow scanning the table, and getting and updating its items.
 *
 * @throws an error with the code `INVALID_ARGUMENT` if a budget, the number of segments or the timeout is out of bounds. Also
 *   throws this error if the table is known to be in another account or region
 *
 * @exampleMetadata fixture=app
 * @example const mover = new IndexItemMover(stack, 'Strays', { index, readUnitsPerSecond: 500, writeUnitsPerSecond: 200 });
 *   mover.grantStartExecution(application);
 */
export class IndexItemMover extends ItemMoverBase {
  /** The function that processes a segment. */
  public readonly function: lambda.Function;

  /** The state machine. Use it to start executions, or to allow a principal to start executions. */
  public readonly stateMachine: sfn.StateMachine;

  private readonly index: IShardedIndex;

  /**
   * Creates a function and a state machine, each with its own role and log group.
   *
   * @param scope the parent construct, usually `this`
   * @param id the id within the scope
   * @param props the index, and the budgets for its table
   */
  constructor(scope: Construct, id: string, props: IndexItemMoverProps) {
    super(scope, id);
    const { index } = props;
    this.index = index;
    checkIndexEnvironment(this, 'index', 'an index', index);
    const mover = addItemMover(this, props, {
      property: 'index',
      description: 'Moves the items of a table to their shards of an index',
      audit: 'Counts the items of a table that are in wrong shards of an index',
      environment: { [INDEX]: index.toConfigJson() },
    });
    this.function = mover.function;
    this.stateMachine = mover.stateMachine;
    index.grants.reshard(this.function);
  }

  /**
   * A metric that executions write for the index. The guide to metrics lists the names.
   *
   * The default period is 5 minutes. The default statistic is in the guide. For a metric that is not in the guide, the
   * default is the average.
   *
   * @param metricName the name of the metric, such as `HiddenStrays`
   * @param props the statistic, period, label and color of the metric
   */
  public metric(metricName: string, props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return storeMetric(this, ITEM_MOVER_METRICS, this.index, metricName, props);
  }
}
