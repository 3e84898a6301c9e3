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

/** Options of `ShardMonitoring.addDaxCluster`: the thresholds of its alarms. */
export interface DaxMonitoringOptions {
  /**
   * How many requests the cluster may throttle in a minute: 0 or more. The alarm is raised when the cluster throttles more
   * requests than this number in three of five minutes.
   *
   * @default 0
   */
  readonly maxThrottledRequests?: number;

  /**
   * How many requests may fail in a minute because of an error in the cluster: 0 or more.
   *
   * @default 0
   */
  readonly maxFaults?: number;

  /**
   * The maximum CPU utilization of the busiest node, in percent: 0 or more. The alarm is raised when the utilization
   * is above this value for 15 minutes.
   *
   * @default 80
   */
  readonly maxCpuUtilizationPercent?: number;
}

/** The alarms of a DAX cluster. All properties are absent if `ShardMonitoringProps.alarms` is false. */
export interface DaxAlarms extends WatchedAlarms {
  /** The cluster throttles requests. */
  readonly throttles?: cloudwatch.Alarm;

  /** Requests fail because of errors in the cluster. */
  readonly faults?: cloudwatch.Alarm;

  /** The CPU of a node is busy. */
  readonly cpu?: cloudwatch.Alarm;

  /** The memory of a node is full. */
  readonly memory?: cloudwatch.Alarm;
}

/** The threshold of the alarm on memory. It is below 100 %, because DAX evicts items before the memory is full. */
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
 * The alarms of a cluster. DAX writes these metrics for the whole cluster, and writes no value while a metric is 0.
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
  const busiestNode = { statistic: cloudwatch.Stats.MAXIMUM, period: fiveMinutes };
  const name = `The DAX cluster ${cluster.clusterName}`;
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
        `${name} fails requests. Check the events of the cluster, and check that its role can read the tables. In the meantime, readers ` +
        `can query DynamoDB directly: the same queries work with a DynamoDB client.${seeMonitoring('dax-fails-requests')}`,
      ...ONE_OF_FIVE_MINUTES,
      threshold: props.number('maxFaults', { min: 0 }),
    },
    cpu: {
      severity: 'ticket',
      metric: cluster.metric('CPUUtilization', busiestNode),
      description:
        `A node of the DAX cluster ${cluster.clusterName} has been busy for 15 minutes. At a higher load, the cluster throttles ` +
        'requests. Give the cluster more nodes if most requests are hits, and a larger nodeType if many are misses or ' +
        `writes.${seeMonitoring('dax-is-busy')}`,
      evaluationPeriods,
      threshold: props.number('maxCpuUtilizationPercent', { min: 0 }),
    },
    memory: {
      severity: 'ticket',
      metric: cluster.metric('CacheMemoryUtilization', busiestNode),
      description:
        `The memory of a node of the DAX cluster ${cluster.clusterName} has been nearly full for 15 minutes. The node evicts items that ` +
        'readers request again, and at 100 % it throttles writes. Use a larger nodeType, or decrease ' +
        `queryTimeToLive and itemTimeToLive.${seeMonitoring('the-memory-of-dax-is-full')}`,
      evaluationPeriods,
      threshold: NEARLY_FULL_PERCENT,
    },
  };
}

function daxWidgets(cluster: IDaxCluster, alarms: DaxAlarms): Rows {
  const period = REPORTING_PERIOD;
  const busiestNode = { statistic: cloudwatch.Stats.MAXIMUM, period };
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
        'Requests without a response',
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
      graph('CPU of the busiest node, in %', [cluster.metric('CPUUtilization', { ...busiestNode, label: 'CPU' })], {
        leftAnnotations: lines(alarms.cpu),
      }),
      graph(
        'Memory of the fullest node, in %',
        [cluster.metric('CacheMemoryUtilization', { ...busiestNode, label: 'memory' })],
        { leftAnnotations: lines(alarms.memory) },
      ),
      graph('Evicted, in bytes', [cluster.metric('EvictedSize', { label: 'evicted', period })]),
    ],
  ];
}
