import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import type * as ec2 from 'aws-cdk-lib/aws-ec2';
import type * as iam from 'aws-cdk-lib/aws-iam';
import type * as lambda from 'aws-cdk-lib/aws-lambda';
import type * as sfn from 'aws-cdk-lib/aws-stepfunctions';
import { Construct } from 'constructs';
import { RESHARDING_METRICS } from '../../core/foundation/function-metrics';

/**
 * What is told of every state machine that goes over a table to move its items to their shards, and who may start it.
 *
 * @internal
 */
export abstract class ReshardingBase extends Construct implements ec2.IConnectable {
  /** The function that works on a segment. */
  public abstract readonly function: lambda.Function;

  /** The state machine: to start executions, and to grant their start. */
  public abstract readonly stateMachine: sfn.StateMachine;

  /** The network connections of the function, if it runs in a VPC. */
  public get connections(): ec2.Connections {
    return this.function.connections;
  }

  /**
   * Allows to start executions.
   *
   * @param grantee the role, function or other principal that starts them
   */
  public grantStartExecution(grantee: iam.IGrantable): iam.Grant {
    return this.stateMachine.grantStartExecution(grantee);
  }

  /**
   * Strays that no query finds, as executions come upon them.
   *
   * Sum over 5 minutes by default.
   *
   * @param props statistic, period and looks
   */
  public metricHiddenStrays(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric(RESHARDING_METRICS.hiddenStrays, { statistic: cloudwatch.Stats.SUM, ...props });
  }

  /**
   * Strays of all kinds, as executions come upon them.
   *
   * Sum over 5 minutes by default.
   *
   * @param props statistic, period and looks
   */
  public metricStrays(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric(RESHARDING_METRICS.strays, { statistic: cloudwatch.Stats.SUM, ...props });
  }

  /**
   * Items that got their shard.
   *
   * Sum over 5 minutes by default.
   *
   * @param props statistic, period and looks
   */
  public metricMovedItems(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric(RESHARDING_METRICS.movedItems, { statistic: cloudwatch.Stats.SUM, ...props });
  }

  /**
   * Strays that could not be moved, because DynamoDB refused the item, or because nobody knows its place.
   *
   * Sum over 5 minutes by default.
   *
   * @param props statistic, period and looks
   */
  public metricRefusedItems(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric(RESHARDING_METRICS.refusedItems, { statistic: cloudwatch.Stats.SUM, ...props });
  }

  /**
   * Items that were looked at.
   *
   * Sum over 5 minutes by default.
   *
   * @param props statistic, period and looks
   */
  public metricItemsScanned(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric(RESHARDING_METRICS.itemsScanned, { statistic: cloudwatch.Stats.SUM, ...props });
  }

  /**
   * Any metric that executions write, by its name.
   *
   * Average over 5 minutes by default.
   *
   * @param metricName its name, such as `HiddenStrays`
   * @param props statistic, period and looks
   */
  public abstract metric(metricName: string, props?: cloudwatch.MetricOptions): cloudwatch.Metric;
}
