import type { MetricDefinition, MetricFamily } from '../../lib/construct/metric-definition';
import { QUERY_FUNCTION_METRICS } from '../../lib/function/query-function';
import { KEYSPACES_OPERATION_METRICS, KEYSPACES_TABLE_METRICS } from '../../lib/keyspaces/keyspaces-table-metrics';
import { SHARD_METRICS } from '../../lib/monitoring/stream-shard-metrics';
import { OUTBOX_RELAY_METRICS } from '../../lib/outbox/outbox-relay-metrics';
import { ORDERED_CONSUMER_METRICS } from '../../lib/stream/consumer/consumer-metrics';
import { ORDERED_PRODUCER_METRICS } from '../../lib/stream/producer/producer-metrics';
import { SHARDS_OF_STREAM_METRICS } from '../../lib/stream/stream-metrics';
import { DAX_METRICS } from '../../lib/table/dax-cluster';
import {
  ADAPTIVE_COUNT_METRICS,
  FAN_OUT_QUERY_METRICS,
  ITEM_MOVER_METRICS,
  SHARDED_INDEX_METRICS,
  SHARDED_TABLE_METRICS,
} from '../../lib/table/table-metrics';

/** The metric definitions of each construct. */
const FAMILIES: Readonly<Record<string, MetricFamily>> = {
  OrderedProducerFunction: ORDERED_PRODUCER_METRICS,
  OrderedStreamConsumer: ORDERED_CONSUMER_METRICS,
  FanOutQueryFunction: FAN_OUT_QUERY_METRICS,
  KeyspacesFanOutQueryFunction: QUERY_FUNCTION_METRICS,
  OutboxRelayFunction: OUTBOX_RELAY_METRICS,
  'StreamAutoScaling, StreamReconciliation': SHARDS_OF_STREAM_METRICS,
  StreamShardMetrics: SHARD_METRICS,
  ShardedIndex: SHARDED_INDEX_METRICS,
  KeyShardedTable: SHARDED_TABLE_METRICS,
  'ShardedKeyspacesTable.metric': KEYSPACES_TABLE_METRICS,
  'ShardedKeyspacesTable.metricOfOperation': KEYSPACES_OPERATION_METRICS,
  AdaptiveShardCountController: ADAPTIVE_COUNT_METRICS,
  'IndexItemMover, TableItemMover': ITEM_MOVER_METRICS,
  DaxCluster: DAX_METRICS,
};

/** The metrics of each construct: a table of the metrics of this library, and a list of the metrics that AWS writes and documents. */
export function metricTables(): string {
  return Object.entries(FAMILIES)
    .map(([constructs, family]) => `${introduction(constructs, family)}\n\n${body(family)}`)
    .join('\n\n');
}

function introduction(constructs: string, { namespace, dimensions }: MetricFamily): string {
  const names = constructs.split(', ').map((name) => `**${name}**`);
  const by = dimensions.map((dimension) => `\`${dimension}\``).join(' and ');
  return `${names.join(' and ')}, in the namespace \`${namespace}\` by ${by}:`;
}

function body(family: MetricFamily): string {
  if (family === QUERY_FUNCTION_METRICS) return sameAsFanOut();
  return family.namespace.startsWith('AWS/') ? list(family) : table(family);
}

/** The query function of Amazon Keyspaces writes some of the metrics of the DynamoDB query function. */
function sameAsFanOut(): string {
  const others = Object.keys(FAN_OUT_QUERY_METRICS.metrics).filter((name) => !(name in QUERY_FUNCTION_METRICS.metrics));
  return `- the metrics of \`FanOutQueryFunction\`, except ${others.map((name) => `\`${name}\``).join(', ')}.`;
}

function table({ metrics }: MetricFamily): string {
  const rows = Object.entries(metrics).map(
    ([name, metric]) => `| \`${name}\` | ${statisticOf(metric)} | ${metric.description} |`,
  );
  return ['| metric | statistic | meaning |', '| --- | --- | --- |', ...rows].join('\n');
}

function list({ metrics }: MetricFamily): string {
  const names = Object.keys(metrics);
  const statistics = [...new Set(Object.values(metrics).map(statisticOf))];
  return statistics
    .map((statistic) => {
      const group = names.filter((name) => statisticOf(metrics[name]!) === statistic);
      return `- ${statistic}: ${group.map((name) => `\`${name}\``).join(', ')}`;
    })
    .join('\n');
}

/** The default statistic, with the unit of the metric. A count has no unit. */
function statisticOf({ statistic, unit }: MetricDefinition): string {
  return unit === 'Count' ? statistic : `${statistic}, ${unit.toLowerCase()}`;
}
