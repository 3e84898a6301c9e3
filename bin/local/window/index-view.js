import { element, hotIf, number, rateOf, table } from './elements.js';

/** More values than these are not shown: the busiest are. */
const MOST_VALUES = 40;

/** The writes of each shard of each value as a heat map. */
export function indexView(seconds, { path, index, entries, partitionKeys, shardCounts }, was) {
  const values = Map.groupBy(entries, ({ value }) => value);
  const old = new Map((was?.entries ?? []).map((entry) => [`${entry.value} ${entry.shard}`, entry]));
  const busiest = Math.max(1, ...entries.map(({ count }) => count));
  const rows = [...values].slice(0, MOST_VALUES);
  const heat = element('div', { class: 'heat', 'aria-hidden': 'true' });
  for (const [value, ofValue] of rows) {
    const shards = Math.max(
      shardCounts.byValue?.[value]?.read ?? shardCounts.default.read,
      ...ofValue.map(({ shard }) => shard + 1),
    );
    const svg = element('svg', { viewBox: `0 0 ${shards} 1`, preserveAspectRatio: 'none' });
    for (let shard = 0; shard < shards; shard++)
      svg.append(element('rect', { class: 'cold', x: shard, y: 0, width: 0.92, height: 1 }));
    for (const entry of ofValue) {
      const isThrottled = rateOf(seconds, entry, old.get(`${value} ${entry.shard}`)).throttled > 0;
      svg.append(
        element('rect', {
          class: isThrottled ? 'throttled' : 'hot',
          x: entry.shard,
          y: 0,
          width: 0.92,
          height: 1,
          opacity: 0.15 + (0.85 * entry.count) / busiest,
        }),
      );
    }
    heat.append(element('span', {}, value === '' ? 'all' : value), svg);
  }
  const sum = (of, field) => of.reduce((total, each) => total + each[field], 0);
  const perSecond = (value, ofValue) =>
    sum(
      ofValue.map((entry) => rateOf(seconds, entry, old.get(`${value} ${entry.shard}`))),
      'count',
    );
  return element(
    'article',
    {},
    element('h3', {}, index === '' ? path : `${index} of ${path}`),
    element('p', { class: 'note' }, noteOf(rows.length, values.size, entries.length, partitionKeys)),
    ...(rows.length === 0
      ? []
      : [
          heat,
          table(
            'Writes by value',
            ['value', 'shards written', 'writes/s', 'writes', 'busiest shard', 'throttled'],
            rows.map(([value, ofValue]) => [
              value === '' ? 'all' : value,
              `${ofValue.length}`,
              number.format(perSecond(value, ofValue)),
              number.format(sum(ofValue, 'count')),
              number.format(Math.max(...ofValue.map(({ count }) => count))),
              hotIf(sum(ofValue, 'throttled') > 0, number.format(sum(ofValue, 'throttled'))),
            ]),
          ),
        ]),
  );
}

function noteOf(shown, values, entries, partitionKeys) {
  if (partitionKeys === 0) return 'nothing was written yet';
  if (entries < partitionKeys) return `the ${shown} busiest values, of ${number.format(partitionKeys)} partition keys`;
  return shown < values
    ? `the ${shown} busiest of ${number.format(values)} values`
    : 'a cell is a shard: the fuller, the more writes; red throttles';
}

/** What an index holds: items by value and shard, what is a stray, and which counts have grown. */
export function storedView({ values, strays, hidden, grown }) {
  const rows = values.slice(0, MOST_VALUES).map(({ value, itemsOfShards }) => {
    const counts = Object.values(itemsOfShards);
    const items = counts.reduce((sum, count) => sum + count, 0);
    return [value === '' ? 'all' : value, counts.length, Math.max(...counts), items].map((cell) =>
      typeof cell === 'number' ? number.format(cell) : cell,
    );
  });
  const found = Object.entries(strays).filter(([, count]) => count > 0);
  const kinds = found.map(([reason, count]) => [reason, hotIf(true, number.format(count))]);
  return [
    table(
      values.length > MOST_VALUES
        ? `Items stored, the ${MOST_VALUES} largest of ${number.format(values.length)} values`
        : 'Items stored',
      ['value', 'shards used', 'items of the fullest', 'items'],
      rows,
    ),
    table(
      'Strays: items in another shard than writers give them',
      ['what is wrong', 'items'],
      [...kinds, ['found by no query for their value', hotIf(hidden > 0, number.format(hidden))]],
    ),
    ...(grown === undefined
      ? []
      : [
          table(
            'Counts that have grown',
            ['value', 'write', 'read', 'version', 'changed', 'by', 'why'],
            grown.map(({ value = 'all', write, read, version, changedAt, changedBy, reason }) => [
              ...[value, write, read, version, changedAt, changedBy, reason],
            ]),
          ),
        ]),
  ];
}
