import { counted, element, hotIf, number, rateOf, table } from './elements.js';

/** The table shows at most this many shards. The bar shows all shards. */
const MAX_ROWS = 32;

/**
 * Shows the shards of a stream in the order of their hash key ranges, with the load of each shard, and the hash keys of
 * the busiest keys.
 */
export function streamView(state, seconds, { path, shards, keys }, was) {
  const loads = shards.map((shard, index) => ({
    ...shard,
    rate: rateOf(seconds, shard, was?.shards[index]?.shardId === shard.shardId ? was.shards[index] : undefined),
  }));
  const limit = state.limits?.recordsPerSecond;
  const byteLimit = state.limits?.bytesPerSecond;
  const most = limit ?? Math.max(1, ...loads.map(({ rate }) => rate.count));
  return element(
    'article',
    {},
    element('h3', {}, path),
    element('p', { class: 'note' }, `${counted(shards.length, 'shard')}; ${loadText(loads)}`),
    shardBar(path, loads, keys, ({ count, amount }) => Math.max(count / most, byteLimit ? amount / byteLimit : 0)),
    element(
      'p',
      { class: 'ends', 'aria-hidden': 'true' },
      element('span', {}, 'hash key 0'),
      element('span', {}, keys.length === 0 ? '' : ticksText(keys)),
      element('span', {}, '2¹²⁸'),
    ),
    element(
      'div',
      { class: 'side-by-side' },
      shardTable(loads, limit, byteLimit),
      ...(keys.length === 0 ? [] : [keyTable(keys, shards)]),
    ),
  );
}

function loadText(loads) {
  const mean = loads.reduce((sum, { count }) => sum + count, 0) / Math.max(1, loads.length);
  if (mean === 0) return 'no records yet';
  return `the busiest shard has ${number.format(Math.max(...loads.map(({ count }) => count)) / mean)} times the mean load`;
}

/**
 * Draws the shards in the order of their hash key ranges. The width of a shard is its part of the hash key space, the
 * fill is its used capacity, and each tick is a busy key.
 */
function shardBar(path, loads, keys, usedPart) {
  const bar = element('svg', {
    class: 'bar',
    viewBox: '0 0 1000 84',
    preserveAspectRatio: 'none',
    role: 'img',
    'aria-label': `the ${loads.length} shards of ${path} by hash key`,
  });
  for (const { shardId, from, to, rate } of loads) {
    const [x, width] = [from * 1_000, (to - from) * 1_000];
    const used = Math.min(1, usedPart(rate)) * 60;
    bar.append(element('rect', { class: 'shard', x, width, y: 0, height: 60 }, element('title', {}, shardId)));
    bar.append(
      element('rect', { class: rate.throttled > 0 ? 'throttled' : 'used', x, width, y: 60 - used, height: used }),
    );
  }
  const tick = (kind, at, y1) => element('line', { class: kind, x1: at * 1_000, x2: at * 1_000, y1, y2: y1 + 11 });
  for (const { at, md5At, placedBy } of keys) {
    bar.append(tick(placedBy === 'MD5' ? 'key' : 'key placed', at, 61));
    if (placedBy !== 'MD5') bar.append(tick('key md5', md5At, 73));
  }
  return bar;
}

function shardTable(loads, limit, byteLimit) {
  const rows = loads.toSorted((a, b) => b.count + b.throttled - a.count - a.throttled).slice(0, MAX_ROWS);
  const of = (value, bound) =>
    bound === undefined ? number.format(value) : `${number.format(value)} of ${number.format(bound)}`;
  return table(
    loads.length > MAX_ROWS ? `The ${MAX_ROWS} busiest shards` : 'Shards, the busiest first',
    ['shard', 'records/s', 'bytes/s', 'records', 'throttled'],
    rows.map(({ shardId, rate, count, throttled }) => [
      shardId,
      of(rate.count, limit),
      of(rate.amount, byteLimit),
      number.format(count),
      hotIf(throttled > 0, number.format(throttled)),
    ]),
  );
}

function keyTable(keys, shards) {
  return table(
    'The busiest keys and owners',
    ['name', 'placed by', 'in shard', 'shard by MD5', 'records', 'throttled'],
    keys.map(({ name, placedBy, at, md5At, count, throttled }) => [
      name,
      placedBy,
      shardAt(shards, at),
      shardAt(shards, md5At),
      number.format(count),
      hotIf(throttled > 0, number.format(throttled)),
    ]),
  );
}

function ticksText(keys) {
  const isPlaced = keys.some(({ placedBy }) => placedBy !== 'MD5');
  return isPlaced
    ? 'ticks: the busiest keys and owners; lower ticks: their hash keys by MD5'
    : 'ticks: the busiest keys';
}

/** Finds the shard that contains a hash key, and returns the number at the end of its shard id. */
function shardAt(shards, at) {
  const { shardId } = shards.find(({ to }) => at < to) ?? shards.at(-1) ?? { shardId: '' };
  return /([1-9]\d*|0)$/.exec(shardId)?.[0] ?? shardId;
}
