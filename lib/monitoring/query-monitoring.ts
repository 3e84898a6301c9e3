import { Duration } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import type { IConstruct } from 'constructs';
import { Props } from '../construct/props';
import { QUERY_METRICS } from '../core/contract/function-metrics';
import type { IQueryFunction } from '../function/query-function';
import { FanOutQueryFunctionBase, type IFanOutQueryFunction } from '../table/query/fan-out-query-function';
import { type AlarmTable, REPORTING_PERIOD, seeMonitoring, type WatchedAlarms } from './alarm-definition';
import { lambdaMetric } from './function-monitoring';
import { graph, lines, type Rows } from './graphs';
import type { Watch } from './watch';

/** Options of `ShardMonitoring.addQuery`: threshold and alarm of a query function. */
export interface QueryMonitoringOptions {
  /**
   * Whether an alarm is raised when filters hide nearly all items that a `FanOutQueryFunction` reads. A `KeyspacesFanOutQueryFunction`
   * has no filters.
   *
   * @default true
   */
  readonly hiddenItemsAlarm?: boolean;

  /**
   * The percentage of the read items that filters may hide: 0 or more. The alarm is raised when filters hide more than this
   * percentage in three of four hours. An hour in which filters hide up to 10,000 items does not count, because the cost of
   * these items is negligible.
   *
   * @default 90
   */
  readonly maxHiddenPercent?: number;
}

/** The alarm of a query function. The alarm is absent if it is switched off, and for a function whose queries have no filters. */
export interface QueryAlarms extends WatchedAlarms {
  /** Filters hide nearly all items that pages read. */
  readonly hiddenItems?: cloudwatch.Alarm;
}

/** Below this number of hidden items in an hour, the cost is negligible. */
const MIN_HIDDEN_ITEMS = 10_000;

/** The newest hour has just begun and has little data, so the alarm needs only three of four hours. */
const THREE_OF_FOUR_HOURS = { evaluationPeriods: 4, datapointsToAlarm: 3 };

export const queryWatch: Watch<IQueryFunction, QueryMonitoringOptions, QueryAlarms> = {
  method: 'addQuery',
  kind: 'a query function',
  resource: (query) => query,
  title: ({ functionName }) => `Query ${functionName}`,
  alarms: queryAlarms,
  widgets: queryWidgets,
};

function queryAlarms(
  monitoring: IConstruct,
  query: IQueryFunction,
  options: QueryMonitoringOptions,
): AlarmTable<QueryAlarms> {
  const threshold = Props.of(monitoring, options, { maxHiddenPercent: 90 }).number('maxHiddenPercent', { min: 0 });
  if (!isFanOutQuery(query)) return {};
  return {
    hiddenItems: {
      isOn: options.hiddenItemsAlarm,
      severity: 'ticket',
      metric: hiddenPercent(query),
      description:
        `Filters hide nearly all items that pages of the query function ${query.functionName} read, and ` +
        'DynamoDB charges for hidden items, too. Make an index for the condition of the filter that contains only the matching ' +
        `items, or make the filter a condition on the sort key.${seeMonitoring('filters-hide-what-pages-read')}`,
      ...THREE_OF_FOUR_HOURS,
      threshold,
    },
  };
}

function isFanOutQuery(query: IQueryFunction): query is IFanOutQueryFunction {
  return query instanceof FanOutQueryFunctionBase;
}

function hiddenPercent(query: IFanOutQueryFunction): cloudwatch.MathExpression {
  const period = Duration.hours(1);
  const read = query.metric(QUERY_METRICS.itemsRead, { period });
  const hidden = query.metric(QUERY_METRICS.itemsHidden, { period });
  return new cloudwatch.MathExpression({
    expression: `IF(hidden > ${MIN_HIDDEN_ITEMS}, 100 * hidden / read, 0)`,
    usingMetrics: { hidden, read },
    label: 'hidden by filters, in %',
    period,
  });
}

function queryWidgets(query: IQueryFunction, alarms: QueryAlarms): Rows {
  const period = REPORTING_PERIOD;
  const duration = (statistic: string, label: string) => lambdaMetric(query, 'Duration', { statistic, label });
  const fanOut = isFanOutQuery(query) ? query : undefined;
  return [
    [
      graph('Pages', [query.metric(QUERY_METRICS.pages, { label: 'pages', period })], {
        right: fanOut ? [fanOut.metric(QUERY_METRICS.consumedReadUnits, { label: 'read units', period })] : [],
      }),
      graph(
        'A page takes',
        [
          query.metric(QUERY_METRICS.requests, { label: 'requests', period }),
          query.metric(QUERY_METRICS.waves, { label: 'waves of requests', period }),
          query.metric(QUERY_METRICS.overRead, { label: 'items read for one', period }),
        ],
        {
          right: fanOut ? [hiddenPercent(fanOut)] : [],
          rightAnnotations: lines(alarms.hiddenItems, 'alarm of hidden items'),
        },
      ),
      graph('Time of a page, in milliseconds', [
        duration(cloudwatch.Stats.p(50), 'median'),
        duration(cloudwatch.Stats.p(99), '99th percentile'),
      ]),
    ],
  ];
}
