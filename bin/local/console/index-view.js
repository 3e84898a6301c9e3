import { countsView } from './counts-view.js';
import { element, hotIf, number, rateOf, table } from './elements.js';

/** The view shows at most this many values, the busiest ones first. */
const MAX_VALUES = 40;

/** Shows a heat map of the writes of each shard of each value, and how the shard counts have grown. */
export function indexView(state, seconds, of, was) {
  const { path, index, entries, shardCounts, counts } = of;
  const values = Map.groupBy(entries, ({ value }) => value);
  const rows = [...values].slice(0, MAX_VALUES);
  const rateOfEntry = rates(seconds, was);
  const busiest = Math.max(1, ...entries.map(({ count }) => count));
  const fastest =
    state.limits?.writeUnitsPerSecond ?? Math.max(1, ...entries.map((entry) => rateOfEntry(entry).amount));
  const heat = rows.map(([value, ofValue]) => {
    const cells = ofValue.map((entry) => {
      const { amount, throttled } = rateOfEntry(entry);
      return { shard: entry.shard, shares: [entry.count / busiest, amount / fastest], isHot: throttled > 0 };
    });
    return [value, cells, shardsOf(value, shardCounts, counts)];
  });
  const sum = (loads, field) => loads.reduce((total, each) => total + each[field], 0);
  const writes = table(
    'Writes by value',
    ['value', 'shards written', 'writes/s', 'writes', 'busiest shard', 'throttled'],
    rows.map(([value, ofValue]) => [
      value === '' ? 'all' : value,
      `${ofValue.length}`,
      number.format(sum(ofValue.map(rateOfEntry), 'count')),
      number.format(sum(ofValue, 'count')),
      number.format(Math.max(...ofValue.map(({ count }) => count))),
      hotIf(sum(ofValue, 'throttled') > 0, number.format(sum(ofValue, 'throttled'))),
    ]),
  );
  return element(
    'article',
    {},
    element('h3', {}, index === '' ? path : `${index} of ${path}`),
    element('p', { class: 'note' }, noteOf(state.search, rows.length, values.size, of)),
    ...(rows.length === 0 ? [] : [heatMap(heat), writes]),
    ...(counts === undefined ? [] : countsView(state.atMs, shardCounts, counts)),
  );
}

/**
 * The write rate of an entry. The rate is 0 if the previous state does not have the entry, because its writes may be
 * older.
 */
function rates(seconds, was) {
  const old = new Map((was?.entries ?? []).map((entry) => [`${entry.value} ${entry.shard}`, entry]));
  const knowsAll = was?.entries.length === was?.partitionKeys;
  return (entry) => rateOf(seconds, entry, old.get(`${entry.value} ${entry.shard}`) ?? (knowsAll ? undefined : entry));
}

/**
 * Draws a row for each value and a cell for each of its shards. The bands of a cell show its share of the writes: a
 * larger share has a stronger color.
 */
function heatMap(rows) {
  return element(
    'div',
    { class: 'heat', 'aria-hidden': 'true' },
    ...rows.flatMap((row) => [nameOf(row), heatRow(row)]),
  );
}

function nameOf([value]) {
  return element('span', {}, value === '' ? 'all' : value);
}

function heatRow([, cells, shards]) {
  const most = Math.max(shards, ...cells.map(({ shard }) => shard + 1));
  const svg = element('svg', { viewBox: `0 0 ${most} 1`, preserveAspectRatio: 'none' });
  const cell = (kind, x, more = {}) => element('rect', { class: kind, x, y: 0, width: 0.92, height: 1, ...more });
  for (let shard = 0; shard < most; shard++) svg.append(cell('cold', shard));
  for (const { shard, shares, isHot } of cells) {
    const height = 1 / shares.length;
    for (const [at, share] of shares.entries()) {
      if (share === 0 && !isHot) continue;
      const opacity = 0.15 + 0.85 * Math.min(1, share);
      svg.append(cell(isHot ? 'throttled' : 'hot', shard, { y: at * height, height, opacity }));
    }
  }
  return svg;
}

/** How many shards readers query: the configured count, or a larger count if the count of the value has grown. */
function shardsOf(value, { default: fallback, byValue }, counts) {
  const grown = counts?.latest.find((history) => history.value === value)?.steps.at(-1).read ?? 1;
  return Math.max(byValue?.[value]?.read ?? fallback.read, grown);
}

function noteOf(search, shown, values, { entries, found, partitionKeys }) {
  if (partitionKeys === 0) return 'no writes yet';
  const isPart = entries.length < found;
  const all = isPart ? `${number.format(found)} partition keys` : `${number.format(values)} values`;
  if (search !== '' && found === 0) {
    return `none of ${number.format(partitionKeys)} partition keys has a value that contains “${search}”`;
  }
  if (shown < values || isPart) return `the ${shown} busiest${search === '' ? '' : ' found'}, of ${all}`;
  return 'each cell is a shard: the upper half shows its writes since the start, the lower half its current write rate; red means throttled';
}

/** Shows the items that an index holds by value and shard, and its strays. */
export function storedView({ values, strays, hidden }) {
  const rows = values.slice(0, MAX_VALUES).map(({ value, itemsOfShards }) => {
    const counts = Object.values(itemsOfShards);
    const items = counts.reduce((sum, count) => sum + count, 0);
    return [value === '' ? 'all' : value, counts.length, Math.max(...counts), items].map((cell) =>
      typeof cell === 'number' ? number.format(cell) : cell,
    );
  });
  const found = Object.entries(strays).filter(([, count]) => count > 0);
  const kinds = found.map(([reason, count]) => [reason, hotIf(true, number.format(count))]);
  const largest = Math.max(1, ...values.flatMap(({ itemsOfShards }) => Object.values(itemsOfShards)));
  const heat = values.slice(0, MAX_VALUES).map(({ value, itemsOfShards }) => {
    const cells = Object.entries(itemsOfShards).map(([shard, count]) => ({
      shard: Number(shard),
      shares: [count / largest],
      isHot: false,
    }));
    return [value, cells, 1];
  });
  return [
    element('figure', {}, element('figcaption', {}, 'Items of each shard'), heatMap(heat)),
    table(
      values.length > MAX_VALUES
        ? `Items stored, the ${MAX_VALUES} largest of ${number.format(values.length)} values`
        : 'Items stored',
      ['value', 'shards used', 'items of the largest shard', 'items'],
      rows,
    ),
    table(
      'Strays: items that are not in the shard that writers use for them',
      ['what is wrong', 'items'],
      [...kinds, ['found by no query for their value', hotIf(hidden > 0, number.format(hidden))]],
    ),
  ];
}
