/**
 * Draws the dashboard of `ShardMonitoring` as it is laid out, with curves that are made up.
 *
 * usage: node scripts/dashboard-picture.mjs > docs/guides/dashboard.svg (after npm run build)
 */
import { App, Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { AttributeType } from 'aws-cdk-lib/aws-dynamodb';
import { Queue } from 'aws-cdk-lib/aws-sqs';
import {
  FanOutQueryFunction,
  OrderedProducerFunction,
  ShardCounts,
  ShardedTable,
  ShardMonitoring,
  UniformStream,
} from 'cdk-even-shards';

const COLUMN = 40;
const ROW = 26;
const GAP = 6;
const SHARDS = Array.from({ length: 4 }, (_, shard) => `shard ${shard}`);
const COLOURS = ['#1f77b4', '#ff7f0e', '#2ca02c', '#d62728'];

function widgets() {
  const stack = new Stack(new App(), 'Orders');
  const events = new UniformStream(stack, 'Events', { shardCount: 4 });
  const autoScaling = events.autoScaleShardCount({ minCapacity: 2, maxCapacity: 32 });
  const table = new ShardedTable(stack, 'Table', { partitionKey: { name: 'orderId', type: AttributeType.STRING } });
  const byStatus = table.addShardedIndex({
    indexName: 'byStatus',
    valueAttribute: { name: 'status', type: AttributeType.STRING },
    shardCounts: ShardCounts.uniform(8),
  });
  const monitoring = new ShardMonitoring(stack, 'Monitoring');
  monitoring.addStream(events, { autoScaling, reconciliation: events.addReconciliation() });
  monitoring.addProducer(new OrderedProducerFunction(stack, 'Writer', { stream: events }));
  monitoring.addIndex(byStatus);
  monitoring.addQuery(new FanOutQueryFunction(stack, 'Reader', { indexes: [byStatus] }));
  monitoring.addDeadLetterQueue(new Queue(stack, 'DeadLetters'));
  const [dashboard] = Object.values(Template.fromStack(stack).findResources('AWS::CloudWatch::Dashboard'));
  const [, parts] = dashboard.Properties.DashboardBody['Fn::Join'];
  const nameOf = ({ Ref, 'Fn::GetAtt': attribute }) => (Ref ?? attribute[0]).replace(/(Function)?[0-9A-F]{8}$/, '');
  return JSON.parse(parts.map((part) => (typeof part === 'string' ? part : nameOf(part))).join('')).widgets;
}

/** A source of numbers in [0, 1) that is the same for each picture. */
function repeatable(seed) {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return state / 2 ** 31;
  };
}

const escaped = (text) => text.replace(/[&<>]/g, (character) => `&#${character.charCodeAt(0)};`);

function draw({ type, x, y, width, height, properties }, index) {
  const left = x * COLUMN + GAP / 2;
  const top = y * ROW + GAP / 2;
  const box = { left, top, width: width * COLUMN - GAP, height: height * ROW - GAP };
  if (type === 'text') {
    return `<text class="row" x="${left + 4}" y="${top + 16}">${escaped(properties.markdown.replace(/^#+ /, ''))}</text>`;
  }
  const frame = `<rect class="card" x="${left}" y="${top}" width="${box.width}" height="${box.height}" rx="4"/>`;
  const title = `<text class="title" x="${left + 10}" y="${top + 18}">${escaped(properties.title)}</text>`;
  return frame + title + (type === 'alarm' ? alarms(box, properties) : graph(box, properties, index));
}

function alarms({ left, top, height }, properties) {
  return properties.alarms
    .map(
      (_, index) =>
        `<rect class="ok" x="${left + 10 + index * 150}" y="${top + 30}" width="140" height="${height - 40}"/>`,
    )
    .join('');
}

function graph({ left, top, width, height }, { metrics }, index) {
  const drawn = metrics.map((metric) => metric.at(-1)).filter((options) => options.visible !== false);
  const lines = drawn.flatMap(({ label }) => (label.includes('Dim.ShardId') ? SHARDS : label));
  const chart = { left: left + 10, top: top + 30, width: width - 20, height: height - 56 };
  const curves = lines.map((_, line) => curve(chart, line, repeatable(index * 31 + line + 1))).join('');
  let offset = left + 10;
  const legend = lines.map((label, line) => {
    const text = `<rect x="${offset}" y="${top + height - 15}" width="8" height="8" fill="${COLOURS[line % 4]}"/><text class="label" x="${offset + 12}" y="${top + height - 7}">${escaped(label)}</text>`;
    offset += 22 + label.length * 5.4;
    return text;
  });
  return `<path class="axis" d="M${chart.left} ${chart.top + chart.height}h${chart.width}"/>${curves}${legend.join('')}`;
}

function curve({ left, top, width, height }, line, random) {
  const level = 0.75 - 0.17 * line;
  const points = Array.from({ length: 25 }, (_, step) => {
    const value = Math.min(0.95, Math.max(0.03, level + 0.08 * Math.sin(step / 4 + line) + 0.08 * (random() - 0.5)));
    return `${(left + (width * step) / 24).toFixed(0)},${(top + height * (1 - value)).toFixed(0)}`;
  });
  return `<polyline fill="none" stroke="${COLOURS[line % 4]}" points="${points.join(' ')}"/>`;
}

const all = widgets();
const bottom = Math.max(...all.map(({ y, height }) => y + height));
console.log(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${24 * COLUMN} ${bottom * ROW}" role="img" aria-labelledby="title description" font-family="ui-sans-serif, system-ui, 'Segoe UI', Helvetica, Arial, sans-serif" font-size="12">
  <title id="title">The dashboard of ShardMonitoring</title>
  <desc id="description">${escaped(all.map(({ properties }) => properties.title ?? properties.markdown.replace(/^#+ /, '')).join('. '))}. The curves are made up.</desc>
  <style>
    .back { fill: #f6f8fa; } .card { fill: #ffffff; stroke: #d1d9e0; } .axis { stroke: #d1d9e0; } .ok { fill: #1a7f37; opacity: 0.75; }
    .row { fill: #1f2328; font-size: 15px; font-weight: 600; } .title { fill: #1f2328; font-weight: 600; } .label { fill: #59636e; font-size: 10px; }
    @media (prefers-color-scheme: dark) {
      .back { fill: #0d1117; } .card { fill: #151b23; stroke: #3d444d; } .axis { stroke: #3d444d; }
      .row, .title { fill: #f0f6fc; } .label { fill: #9198a1; }
    }
  </style>
  <rect class="back" width="100%" height="100%"/>
${all.map((widget, index) => `  ${draw(widget, index)}`).join('\n')}
</svg>`);
