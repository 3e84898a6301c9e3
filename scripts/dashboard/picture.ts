import { FakeCloudWatch } from '../../lib/testing';
import { putHealthyTraffic } from './healthy-traffic';
import { type Line, linesOf } from './lines';
import { Measured, MINUTES } from './measured';
import { synthesize, type WatchedApp, type Widget } from './watched-app';

const COLUMN = 40;
const ROW = 26;
const GAP = 6;
const COLOURS = ['#1f77b4', '#ff7f0e', '#2ca02c', '#9467bd'];
const LIMIT = '#d62728';

interface Box {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

/**
 * Draws the synthesized dashboard of `ShardMonitoring` as an SVG picture, with three hours of simulated healthy
 * traffic.
 */
export async function drawDashboard(): Promise<string> {
  const app = synthesize();
  const measured = new Measured();
  const cloudWatch = new FakeCloudWatch();
  for (const [name, properties] of app.alarms) cloudWatch.putMetricAlarm(name, properties);
  await putHealthyTraffic((metric, minute, value) => {
    measured.add(metric, minute, value);
    cloudWatch.putMetricData({ ...metric, Value: value, atMs: minute * 60_000 });
  });
  for (let minute = 1; minute <= MINUTES; minute += 1) cloudWatch.evaluate(minute * 60_000);
  return svg(app, (widget) => draw(widget, measured, cloudWatch));
}

function svg({ widgets }: WatchedApp, drawn: (widget: Widget) => string): string {
  const bottom = Math.max(...widgets.map(({ y, height }) => y + height));
  const titles = widgets.map(({ properties }) => properties.title ?? heading(properties.markdown!));
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${24 * COLUMN} ${bottom * ROW}" role="img" aria-labelledby="title description" font-family="ui-sans-serif, system-ui, 'Segoe UI', Helvetica, Arial, sans-serif" font-size="12">
  <title id="title">The dashboard of ShardMonitoring</title>
  <desc id="description">${escaped(titles.join('. '))}. Three hours of simulated traffic in which nothing is wrong: every alarm is green, no line touches its limit.</desc>
  <style>
    .back { fill: #f6f8fa; } .card { fill: #ffffff; stroke: #d1d9e0; } .axis { stroke: #d1d9e0; } .ok { fill: #1a7f37; } .ALARM { fill: #cf222e; } .state { fill: #ffffff; font-size: 8.5px; }
    .row { fill: #1f2328; font-size: 15px; font-weight: 600; } .title { fill: #1f2328; font-weight: 600; } .label { fill: #59636e; font-size: 10px; } .limit { fill: ${LIMIT}; font-size: 9px; } .end { text-anchor: end; }
    @media (prefers-color-scheme: dark) {
      .back { fill: #0d1117; } .card { fill: #151b23; stroke: #3d444d; } .axis { stroke: #3d444d; }
      .row, .title { fill: #f0f6fc; } .label { fill: #9198a1; } .limit { fill: #ff7b72; }
    }
  </style>
  <rect class="back" width="100%" height="100%"/>
${widgets.map((widget) => `  ${drawn(widget)}`).join('\n')}
</svg>
`;
}

function draw(
  { type, x, y, width, height, properties }: Widget,
  measured: Measured,
  cloudWatch: FakeCloudWatch,
): string {
  const box = {
    left: x * COLUMN + GAP / 2,
    top: y * ROW + GAP / 2,
    width: width * COLUMN - GAP,
    height: height * ROW - GAP,
  };
  if (type === 'text') return text('row', box.left + 4, box.top + 16, heading(properties.markdown!));
  const frame = `<rect class="card" x="${box.left}" y="${box.top}" width="${box.width}" height="${box.height}" rx="4"/>`;
  const title = text('title', box.left + 10, box.top + 18, properties.title!);
  if (type === 'alarm') return frame + title + alarms(box, properties.alarms!, cloudWatch);
  const { annotations } = properties;
  return frame + title + graph(box, linesOf(properties.metrics!, measured), annotations?.horizontal ?? []);
}

/** Draws each alarm with its name, in the colour of its state. */
function alarms({ left, top, width }: Box, names: readonly string[], cloudWatch: FakeCloudWatch): string {
  const perRow = Math.ceil(names.length / 2);
  const step = (width - 14) / perRow;
  return names
    .map((name, index) => {
      const place = { x: left + 10 + (index % perRow) * step, y: top + 26 + Math.floor(index / perRow) * 22 };
      const state = cloudWatch.stateOf(name) === 'OK' ? 'ok' : cloudWatch.stateOf(name);
      const card = `<rect class="${state}" x="${place.x.toFixed(1)}" y="${place.y}" width="${(step - 6).toFixed(1)}" height="18" rx="2"/>`;
      return card + text('state', place.x + 5, place.y + 13, labelOf(name));
    })
    .join('');
}

function labelOf(name: string): string {
  return name.replaceAll(/([a-z])([A-Z])/g, '$1 $2');
}

function graph(box: Box, lines: readonly Line[], limits: readonly { value: number; label: string }[]): string {
  const chart = { left: box.left + 10, top: box.top + 30, width: box.width - 20, height: box.height - 56 };
  const bottom = chart.top + chart.height;
  const top = { left: highest(lines, 'left', limits), right: highest(lines, 'right', []) };
  const drawn = lines.map(({ values, axis }, line) => curve(chart, values, top[axis], COLOURS[line % COLOURS.length]!));
  // Alternates the labels between the left and the right end, so that the labels of near lines do not overlap.
  const marks = limits.map(({ value, label }, index) => {
    const y = (bottom - (chart.height * value) / top.left).toFixed(0);
    return `<path stroke="${LIMIT}" stroke-dasharray="4 3" d="M${chart.left} ${y}h${chart.width}"/>${text(`limit ${index % 2 === 0 ? 'start' : 'end'}`, chart.left + (index % 2 === 0 ? 2 : chart.width - 2), Number(y) - 3, label)}`;
  });
  let offset = box.left + 10;
  const legend = lines.map(({ label }, line) => {
    const colour = COLOURS[line % COLOURS.length]!;
    const entry = `<rect x="${offset.toFixed(0)}" y="${box.top + box.height - 15}" width="8" height="8" fill="${colour}"/>`;
    const words = text('label', offset + 12, box.top + box.height - 7, label);
    offset += 22 + label.length * 5.2;
    return entry + words;
  });
  return `<path class="axis" d="M${chart.left} ${bottom}h${chart.width}"/>${marks.join('')}${drawn.join('')}${legend.join('')}`;
}

/** The upper end of an axis, a little above the highest drawn value. */
function highest(lines: readonly Line[], axis: Line['axis'], limits: readonly { value: number }[]): number {
  const values = lines.filter((line) => line.axis === axis).flatMap((line) => line.values.filter(Number.isFinite));
  return 1.15 * Math.max(...values, ...limits.map(({ value }) => value), 0) || 1;
}

/** Connects the values of a line, and leaves out minutes without a value. */
function curve({ left, top, width, height }: Box, values: readonly number[], most: number, colour: string): string {
  const points = values.flatMap((value, minute) =>
    Number.isFinite(value)
      ? `${(left + (width * minute) / (values.length - 1)).toFixed(0)},${(top + height * (1 - value / most)).toFixed(0)}`
      : [],
  );
  if (points.length === 0) return '';
  return `<polyline fill="none" stroke="${colour}" points="${points.join(' ')}"/>`;
}

function text(kind: string, x: number, y: number, words: string): string {
  return `<text class="${kind}" x="${x.toFixed(0)}" y="${y.toFixed(0)}">${escaped(words)}</text>`;
}

function heading(markdown: string): string {
  return markdown.replace(/^#+ /, '');
}

function escaped(words: string): string {
  return words.replace(/[&<>]/g, (character) => `&#${character.charCodeAt(0)};`);
}
