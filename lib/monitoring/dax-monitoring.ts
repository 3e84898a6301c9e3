import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import type { IConstruct } from 'constructs';
import { Props } from '../construct/props';
import type { IDaxCluster } from '../table/dax-cluster';
import {
  type AlarmTable,
  ONE_OF_FIVE_MINUTES,
  REPORTING_PERIOD,
  seeMonitoring,
  THREE_OF_FIVE_MINUTES,
  THREE_TIMES_FIVE_MINUTES,
  type WatchedAlarms,
} from './alarm-definition';
import { graph, lines, type Rows } from './graphs';
import type { Watch } from './watch';

/** What is watched of a `DaxCluster`. */
export interface DaxMonitoringOptions {
  /**
   * How many requests the cluster may throttle in a minute: 0 or more. An alarm is raised when it throttles more in three of five
   * minutes.
   *
   * @default 0
   */
  readonly maxThrottledRequests?: number;

  /**
   * How many requests the cluster may fail to answer in a minute: 0 or more.
   *
   * @default 0
   */
  readonly maxFaults?: number;

  /**
   * How busy the CPU of the busiest node may be for a quarter of an hour, in percent: 0 or more.
   *
   * @default 80
   */
  readonly maxCpuUtilizationPercent?: number;
}

/** The alarms of a cluster of DAX. They are absent if alarms are switched off. */
export interface DaxAlarms extends WatchedAlarms {
  /** The cluster throttles requests. */
  readonly throttles?: cloudwatch.Alarm;

  /** The cluster fails to answer requests. */
  readonly faults?: cloudwatch.Alarm;

  /** The CPU of a node is busy. */
  readonly cpu?: cloudwatch.Alarm;

  /** The memory of a node is full. */
  readonly memory?: cloudwatch.Alarm;
}

/** DAX evicts before its memory is full. */
const NEARLY_FULL_PERCENT = 95;

export const daxWatch: Watch<IDaxCluster, DaxMonitoringOptions, DaxAlarms> = {
  method: 'addDaxCluster',
  kind: 'a cluster',
  resource: (cluster) => cluster,
  title: ({ clusterName }) => `DAX ${clusterName}`,
  alarms: daxAlarms,
  widgets: daxWidgets,
};

/**
 * DAX reports a metric of the whole cluster, and nothing while it is 0.
 *
 * Source of the metrics: the DynamoDB developer guide, "Viewing DAX metrics and dimensions"
 * (https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/dax-metrics-dimensions-dax.html). Source of the advice: AWS
 * re:Post, "How do I troubleshoot ThrottlingException in DAX" (https://repost.aws/knowledge-center/fix-dax-throttling).
 */
function daxAlarms(monitoring: IConstruct, cluster: IDaxCluster, options: DaxMonitoringOptions): AlarmTable<DaxAlarms> {
  const defaults = { maxThrottledRequests: 0, maxFaults: 0, maxCpuUtilizationPercent: 80 };
  const props = Props.of(monitoring, options, defaults);
  const period = REPORTING_PERIOD;
  const { period: fiveMinutes, evaluationPeriods } = THREE_TIMES_FIVE_MINUTES;
  const ofTheBusiest = { statistic: cloudwatch.Stats.MAXIMUM, period: fiveMinutes };
  const name = `The cluster of DAX ${cluster.clusterName}`;
  return {
    throttles: {
      severity: 'page',
      metric: cluster.metric('ThrottledRequestCount', { period }),
      description:
        `${name} throttles requests, because the CPU of a node is too busy. Give the cluster more nodes if most requests are ` +
        `hits, and a larger nodeType if many are misses or writes.${seeMonitoring('dax-throttles-requests')}`,
      ...THREE_OF_FIVE_MINUTES,
      threshold: props.number('maxThrottledRequests', { min: 0 }),
    },
    faults: {
      severity: 'page',
      metric: cluster.metric('FaultRequestCount', { period }),
      description:
        `${name} fails to answer requests. See its events, and whether its role may still read the tables. Readers can go ` +
        `past it meanwhile: their queries are the same with a client of DynamoDB.${seeMonitoring('dax-fails-requests')}`,
      ...ONE_OF_FIVE_MINUTES,
      threshold: props.number('maxFaults', { min: 0 }),
    },
    cpu: {
      severity: 'ticket',
      metric: cluster.metric('CPUUtilization', ofTheBusiest),
      description:
        `A node of the cluster of DAX ${cluster.clusterName} has been busy for a quarter of an hour: soon it throttles requests. ` +
        'Give the cluster more nodes if most requests are hits, and a larger nodeType if many are misses or ' +
        `writes.${seeMonitoring('dax-is-busy')}`,
      evaluationPeriods,
      threshold: props.number('maxCpuUtilizationPercent', { min: 0 }),
    },
    memory: {
      severity: 'ticket',
      metric: cluster.metric('CacheMemoryUtilization', ofTheBusiest),
      description:
        `The memory of a node of the cluster of DAX ${cluster.clusterName} has been nearly full for a quarter of an hour. It ` +
        'evicts what readers ask for again, and at 100 % it throttles writes. Give it a larger nodeType, or keep answers for less time: ' +
        `queryTimeToLive, itemTimeToLive.${seeMonitoring('the-memory-of-dax-is-full')}`,
      evaluationPeriods,
      threshold: NEARLY_FULL_PERCENT,
    },
  };
}

function daxWidgets(cluster: IDaxCluster, alarms: DaxAlarms): Rows {
  const period = REPORTING_PERIOD;
  const ofTheBusiest = { statistic: cloudwatch.Stats.MAXIMUM, period };
  return [
    [
      graph('Queries', [
        cluster.metric('QueryCacheHits', { label: 'from the cache', period }),
        cluster.metric('QueryCacheMisses', { label: 'from DynamoDB', period }),
      ]),
      graph('Single items', [
        cluster.metric('ItemCacheHits', { label: 'from the cache', period }),
        cluster.metric('ItemCacheMisses', { label: 'from DynamoDB', period }),
      ]),
      graph(
        'Requests without an answer',
        [
          cluster.metric('ThrottledRequestCount', { label: 'throttled', period }),
          cluster.metric('FaultRequestCount', { label: 'failed by the cluster', period }),
          cluster.metric('ErrorRequestCount', { label: 'rejected or throttled', period }),
        ],
        {
          leftAnnotations: [
            ...lines(alarms.throttles, 'alarm of throttles'),
            ...lines(alarms.faults, 'alarm of failures'),
          ],
        },
      ),
    ],
    [
      graph('CPU of the busiest node, in %', [cluster.metric('CPUUtilization', { ...ofTheBusiest, label: 'CPU' })], {
        leftAnnotations: lines(alarms.cpu),
      }),
      graph(
        'Memory of the fullest node, in %',
        [cluster.metric('CacheMemoryUtilization', { ...ofTheBusiest, label: 'memory' })],
        { leftAnnotations: lines(alarms.memory) },
      ),
      graph('Evicted, in bytes', [cluster.metric('EvictedSize', { label: 'evicted', period })]),
    ],
  ];
}
