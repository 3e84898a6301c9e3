import { element, table } from './elements.js';

/** The table shows at most this many changes. The picture shows all changes. */
const MAX_ROWS = 30;

/**
 * Shows how the shard counts of values have grown since the run began: a picture for each value, and a table of the
 * latest changes.
 */
export function countsView(atMs, shardCounts, { values, latest, maximum, problem }) {
  const title =
    values === 0
      ? `Shard counts: no value has grown yet; the maximum is ${maximum}`
      : `Shard counts since the run began: ${values} ${values === 1 ? 'value has' : 'values have'} grown; the maximum is ${maximum}`;
  const most = Math.max(1, ...latest.map(({ steps }) => steps.at(-1).read));
  const rows = latest.flatMap(({ value, steps }) => [
    element('span', {}, nameOf(value)),
    picture(atMs, floorOf(value, shardCounts), steps, most, nameOf(value)),
    element('span', {}, `${steps.at(-1).write}`),
  ]);
  const changes = latest
    .flatMap(({ value, steps }) => steps.map((step) => ({ value, ...step })))
    .sort((a, b) => b.atMs - a.atMs)
    .slice(0, MAX_ROWS)
    .map(({ value, ...step }) => [
      nameOf(value),
      timeOf(step.atMs),
      `${step.write}`,
      `${step.read}`,
      step.changedBy,
      step.reason,
    ]);
  return [
    element(
      'figure',
      { class: 'counts' },
      element('figcaption', {}, title),
      ...(problem === undefined ? [] : [element('p', { class: 'problem' }, `the counts cannot be read: ${problem}`)]),
      ...(values === 0
        ? []
        : [
            element('div', { class: 'histories' }, ...rows),
            element(
              'p',
              { class: 'ends', 'aria-hidden': 'true' },
              element('span', {}, '0:00'),
              element('span', {}, 'dark: shards that writers use; light: shards that readers query'),
              element('span', {}, timeOf(atMs)),
            ),
          ]),
    ),
    ...(values === 0 ? [] : [table('Changes of shard counts, the latest first', COLUMNS, changes)]),
  ];
}

const COLUMNS = ['value', 'at', 'writers use', 'readers query', 'changed by', 'why'];

/** Draws the counts of one value from the start of the run until now. */
function picture(atMs, floor, steps, most, name) {
  const spans = [{ atMs: 0, write: floor.write, read: floor.read }, ...steps].map((step, index, all) => ({
    write: step.write,
    read: step.read,
    fromMs: step.atMs,
    toMs: all[index + 1]?.atMs ?? atMs,
  }));
  const grown = steps.map(({ write, read, atMs: changedAtMs }) => `${write} of ${read} at ${timeOf(changedAtMs)}`);
  const svg = element('svg', {
    viewBox: '0 0 1000 1',
    preserveAspectRatio: 'none',
    role: 'img',
    'aria-label': `${name}: writers used ${floor.write} of ${floor.read} shards, then ${grown.join(', then ')}`,
  });
  for (const { fromMs, toMs, write, read } of spans) {
    const [x, width] = [(1_000 * fromMs) / atMs, (1_000 * Math.max(0, toMs - fromMs)) / atMs];
    for (const [kind, count] of [
      ['asked', read],
      ['used', write],
    ]) {
      svg.append(element('rect', { class: kind, x, width, y: 1 - count / most, height: count / most }));
    }
  }
  return svg;
}

function floorOf(value, { default: fallback, byValue }) {
  return byValue?.[value] ?? fallback;
}

function nameOf(value) {
  return value === '' ? 'all' : value;
}

/** Minutes and seconds since the run began. */
function timeOf(ms) {
  const seconds = Math.floor(ms / 1_000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}
