import { Duration } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import type { IConstruct } from 'constructs';
import { Props } from '../construct/props';
import { KEEPER_METRICS } from '../core/contract/function-metrics';
import { type IIndexKeeper, IndexKeeper } from '../table/keeper/index-keeper';
import {
  type AlarmDefinition,
  type AlarmTable,
  REPORTING_PERIOD,
  seeMonitoring,
  THREE_OF_FIVE_MINUTES,
  THREE_TIMES_FIVE_MINUTES,
  type WatchedAlarms,
} from './alarm-definition';
import { lambdaMetric } from './function-monitoring';
import { graph, lines, type Rows } from './graphs';
import { noRunReports } from './silence';
import type { Watch } from './watch';

/** Options of `ShardMonitoring.addIndexKeeper`: the threshold of its alarm. */
export interface IndexKeeperMonitoringOptions {
  /**
   * How long a changed item may wait for the keeper: at least 1 second. The alarm `delay` is raised when an item waits at
   * least this long in three of five minutes. Until the keeper has processed its record, queries do not find a new or replaced item.
   *
   * @default - 1 minute
   */
  readonly maxDelay?: Duration;
}

/** The alarms of an index keeper. The properties are absent if `ShardMonitoringProps.alarms` is false. */
export interface IndexKeeperAlarms extends WatchedAlarms {
  /** Changed items wait too long for the keeper. */
  readonly delay?: cloudwatch.Alarm;

  /** The table is written, and the keeper reads nothing. Absent for an imported keeper, because its table is unknown. */
  readonly notReading?: cloudwatch.Alarm;

  /** Items are set aside: another program undoes the corrections, or DynamoDB rejects them. */
  readonly setAside?: cloudwatch.Alarm;

  /** The whole table must be checked, and no person has started the sweep. */
  readonly sweepDue?: cloudwatch.Alarm;

  /** No scheduled run of the keeper has succeeded for 15 minutes. */
  readonly stopped?: cloudwatch.Alarm;
}

export const keeperWatch: Watch<IIndexKeeper, IndexKeeperMonitoringOptions, IndexKeeperAlarms> = {
  method: 'addIndexKeeper',
  kind: 'an index keeper',
  resource: (keeper) => keeper,
  title: ({ functionName }) => `Index keeper ${functionName}`,
  alarms: keeperAlarms,
  widgets: keeperWidgets,
};

function keeperAlarms(
  monitoring: IConstruct,
  keeper: IIndexKeeper,
  options: IndexKeeperMonitoringOptions,
): AlarmTable<IndexKeeperAlarms> {
  const props = Props.of(monitoring, options, { maxDelay: Duration.minutes(1) });
  const { functionName } = keeper;
  const period = REPORTING_PERIOD;
  return {
    delay: {
      severity: 'page',
      metric: waiting(keeper),
      description:
        `Changed items wait ${props.value('maxDelay').toHumanString()} or more for the index keeper ${functionName}. Queries do not ` +
        'find new and replaced items that wait. After 24 hours, the stream deletes the records. If invocations fail, the log has the cause. ' +
        'If the index or the table throttles writes, find the cause of the throttles. Otherwise, increase parallelizationFactor.' +
        seeMonitoring('items-wait-for-an-index-keeper'),
      threshold: props.seconds('maxDelay', { min: Duration.seconds(1) }),
      comparisonOperator: cloudwatch.ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      ...THREE_OF_FIVE_MINUTES,
    },
    ...(keeper instanceof IndexKeeper && { notReading: notReading(keeper) }),
    setAside: {
      severity: 'ticket',
      metric: new cloudwatch.MathExpression({
        expression: 'SUM([contested, rejected])',
        usingMetrics: {
          contested: keeper.metric(KEEPER_METRICS.contestedItems, { period }),
          rejected: keeper.metric(KEEPER_METRICS.rejectedItems, { period }),
        },
        label: 'items set aside',
        period,
      }),
      description:
        `The index keeper ${functionName} has set items aside, so queries may not find them. Invoke it with {"list":true} to see their ` +
        'keys. An item is contested if a program replaces it too often: let it update the item instead, or write the shard attributes. ' +
        'An item is rejected if DynamoDB rejects the correction, for example because the item would exceed 400 KB.' +
        seeMonitoring('an-index-keeper-sets-items-aside'),
      threshold: 0,
      ...THREE_OF_FIVE_MINUTES,
    },
    sweepDue: {
      severity: 'ticket',
      metric: keeper.metric(KEEPER_METRICS.sweepDue, { period }),
      description:
        `The index keeper ${functionName} has not seen all changes of its table: items are older than the keeper, or the stream has a ` +
        'gap. Queries may miss these items. Invoke the keeper with {"sweep":true} to check the whole table.' +
        seeMonitoring('a-sweep-is-due'),
      threshold: 0,
      ...THREE_OF_FIVE_MINUTES,
    },
    stopped: {
      ...noRunReports(keeper, keeper.metric(KEEPER_METRICS.sweepDue, { period: Duration.minutes(5) })),
      description:
        `No scheduled run of the index keeper ${functionName} has succeeded for 15 minutes. Its log has the cause. If the log has no ` +
        'recent lines, nothing invokes the function. Until a run succeeds, a sweep does not continue, items stay aside, and the alarms of ' +
        `items set aside and of sweeps have no values.${seeMonitoring('an-index-keeper-has-stopped')}`,
    },
  };
}

/**
 * An alarm for a keeper that reads nothing while its table is written. Metric math treats a missing value as 0 if the other operand
 * has a value.
 */
function notReading(keeper: IndexKeeper): AlarmDefinition {
  const { period, evaluationPeriods } = THREE_TIMES_FIVE_MINUTES;
  return {
    severity: 'page',
    metric: new cloudwatch.MathExpression({
      expression: 'IF(written > 0 AND 0 * written + reads < 1, 1, 0)',
      usingMetrics: {
        written: keeper._table.metricConsumedWriteCapacityUnits({ statistic: cloudwatch.Stats.SUM, period }),
        reads: iteratorAge(keeper).with({ statistic: cloudwatch.Stats.SAMPLE_COUNT, period }),
      },
      label: 'written, and not read',
      period,
    }),
    description:
      `Programs write to the table of the index keeper ${keeper.functionName}, and the keeper reads no record of its stream. Queries do ` +
      'not find new items. After 24 hours, the stream deletes the records. Check that the event source mapping of the function is ' +
      `enabled, and that the stream of the table is on.${seeMonitoring('an-index-keeper-reads-nothing')}`,
    threshold: 0,
    evaluationPeriods,
  };
}

/** How long changed items wait. A batch that fails reports no delay, and Lambda reports its age. */
function waiting(keeper: IIndexKeeper): cloudwatch.MathExpression {
  const period = REPORTING_PERIOD;
  return new cloudwatch.MathExpression({
    expression: 'MAX([delay, age]) / 1000',
    usingMetrics: { delay: keeper.metric(KEEPER_METRICS.delay, { period }), age: iteratorAge(keeper) },
    label: 'seconds from a change until its check',
    period,
  });
}

/** The age of the last record of each batch, which Lambda reports in milliseconds, also for failed batches. */
function iteratorAge({ functionName }: IIndexKeeper): cloudwatch.Metric {
  return new cloudwatch.Metric({
    namespace: 'AWS/Lambda',
    metricName: 'IteratorAge',
    dimensionsMap: { FunctionName: functionName },
    statistic: cloudwatch.Stats.MAXIMUM,
    period: REPORTING_PERIOD,
  });
}

function keeperWidgets(keeper: IIndexKeeper, alarms: IndexKeeperAlarms): Rows {
  const period = REPORTING_PERIOD;
  return [
    [
      graph('How long changed items wait, in seconds', [waiting(keeper)], { leftAnnotations: lines(alarms.delay) }),
      graph(
        'Items checked',
        [
          keeper.metric(KEEPER_METRICS.correctedItems, { label: 'corrected', period }),
          keeper.metric(KEEPER_METRICS.wrongItems, { label: 'wrong and only counted', period }),
          keeper.metric(KEEPER_METRICS.notKeptItems, { label: 'impossible to keep', period }),
        ],
        { right: [lambdaMetric(keeper, 'Errors', { statistic: cloudwatch.Stats.SUM, label: 'failed invocations' })] },
      ),
      graph(
        'Items set aside',
        [
          keeper.metric(KEEPER_METRICS.contestedItems, { label: 'contested', period }),
          keeper.metric(KEEPER_METRICS.rejectedItems, { label: 'rejected', period }),
        ],
        {
          leftAnnotations: lines(alarms.setAside),
          right: [keeper.metric(KEEPER_METRICS.sweepDue, { label: 'a sweep is due', period })],
          rightAnnotations: lines(alarms.sweepDue, 'alarm of a sweep'),
        },
      ),
    ],
  ];
}
