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
  /** The index whose strays are moved, of this app or imported, in the stack's own account and region. */
  readonly index: IShardedIndex;
}

/**
 * Goes over a table of any size and gives each item the shard that a writer would give it, on Step Functions: to adopt an
 * index on a table that has items, to drain shards before a count shrinks, and to look for strays on a schedule. For a table that is
 * sharded by its own key, use `TableItemMover`.
 *
 * Start an execution of `stateMachine` with `{}` to move strays, or with `{ "mode": "audit" }` to count them. It may run
 * beside any writer and more than once: an item is changed only while it has the value and the shard that were read. The
 * segments of the table are a Distributed Map, and each goes on where its last invocation stopped.
 *
 * The function may scan the table, and get and update its items, and nothing else.
 *
 * @throws an error with the code `INVALID_ARGUMENT` if a budget is not greater than 0, if the segments or the
 *   timeout are out of bounds, or if the table is known to be in another account or region
 *
 * @exampleMetadata fixture=app
 * @example
 * const mover = new IndexItemMover(stack, 'Strays', { index, readUnitsPerSecond: 500, writeUnitsPerSecond: 200 });
 * mover.grantStartExecution(application);
 */
export class IndexItemMover extends ItemMoverBase {
  /** The function that works on a segment. */
  public readonly function: lambda.Function;

  /** The state machine: to start executions, and to grant their start. */
  public readonly stateMachine: sfn.StateMachine;

  private readonly index: IShardedIndex;

  /**
   * A function and a state machine, with roles and log groups of their own.
   *
   * @param scope the construct to add it to, usually `this`
   * @param id its name within the scope
   * @param props the index, and how fast to work on its table
   */
  constructor(scope: Construct, id: string, props: IndexItemMoverProps) {
    super(scope, id);
    const { index } = props;
    this.index = index;
    checkIndexEnvironment(this, 'index', 'an index', index);
    const mover = addItemMover(this, props, {
      property: 'index',
      description: 'Gives the items of a table their shards of an index',
      audit: 'Counts the items of a table that are in wrong shards of an index',
      environment: { [INDEX]: index.toConfigJson() },
    });
    this.function = mover.function;
    this.stateMachine = mover.stateMachine;
    index.grants.reshard(this.function);
  }

  /**
   * Any metric that executions write of the index, by its name: the guide to metrics lists them.
   *
   * Over 5 minutes by default, with the statistic that the guide names; for a metric that the guide does not name, the
   * average.
   *
   * @param metricName its name, such as `HiddenStrays`
   * @param props its statistic, period, label and color
   */
  public metric(metricName: string, props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return storeMetric(this, ITEM_MOVER_METRICS, this.index, metricName, props);
  }
}
