import { counted, element, number, table } from './elements.js';

/** The table shows at most this many attributes. */
const MOST_COLUMNS = 6;

const OPERATORS = [
  ['', 'any'],
  ['eq', '='],
  ['lt', '<'],
  ['lte', '≤'],
  ['gt', '>'],
  ['gte', '≥'],
  ['between', 'between … and'],
  ['beginsWith', 'begins with'],
];

/**
 * Fields for a condition on each attribute of the sort key. The query function rejects conditions that skip an
 * attribute.
 */
export function conditionFields({ sortKeyAttributes }) {
  return sortKeyAttributes.map(({ attribute, type }) => {
    const options = OPERATORS.filter(([operator]) => operator !== 'beginsWith' || type === 'S');
    const field = (name, label) => element('input', { name, 'aria-label': label, disabled: '', size: '12' });
    const operator = element(
      'select',
      { 'aria-label': `condition on ${attribute}`, name: `operator ${attribute}` },
      ...options.map(([value, text]) => element('option', { value }, text)),
    );
    const from = field(`from ${attribute}`, `${attribute} is compared with`);
    const to = field(`to ${attribute}`, `${attribute} is at most`);
    operator.addEventListener('change', () => {
      from.disabled = operator.value === '';
      to.disabled = operator.value !== 'between';
    });
    return element('span', { class: 'condition' }, element('b', {}, attribute), operator, from, to);
  });
}

/** The event of the query function that the form describes. */
export function eventOf(data, { query, valueAttribute, sortKeyAttributes }) {
  const sortKey = {};
  for (const { attribute, type } of sortKeyAttributes) {
    const operator = data.get(`operator ${attribute}`);
    if (!operator) continue;
    const read = (field) => (type === 'N' ? { N: data.get(field) } : data.get(field));
    const from = read(`from ${attribute}`);
    sortKey[attribute] = { [operator]: operator === 'between' ? [from, read(`to ${attribute}`)] : from };
  }
  const [attribute, value] = [data.get('filterAttribute'), data.get('filterValue')];
  return {
    ...query.event,
    ...(valueAttribute !== undefined && { value: data.get('value') }),
    ...(Object.keys(sortKey).length > 0 && { sortKey }),
    ...(attribute !== '' && {
      filterExpression: '#filter = :filter',
      expressionAttributeNames: { '#filter': attribute },
      expressionAttributeValues: { ':filter': data.get('filterType') === 'N' ? { N: value } : { S: value } },
    }),
    order: data.get('order'),
    limit: Number(data.get('limit')),
  };
}

/**
 * Shows a page of a query: the items with their shards, the requests on a time line, the consumed units, and texts to
 * copy.
 */
export function pageView(index, event, { answer: { items, stats }, reads, ms }) {
  const [shardAttribute] = index.partition.slice(-1);
  const shardOf = (item) => /(\d+)$/.exec(`${item[shardAttribute] ?? ''}`)?.[1] ?? '';
  const columns = [...new Set(items.flatMap((item) => Object.keys(item)))]
    .filter((name) => name !== shardAttribute)
    .slice(0, MOST_COLUMNS);
  // For comparison: a naive query reads a whole page from every shard.
  const naiveItems = stats.shards * (event.limit ?? items.length);
  const naiveReadUnits = (stats.consumedReadUnits / Math.max(1, stats.itemsRead)) * naiveItems;
  const facts = [
    ['shards', stats.shards],
    ['requests', stats.requests],
    ['rounds', stats.waves],
    ['items read', stats.itemsRead],
    ['read units', stats.consumedReadUnits],
    ['read units of a naive query', naiveReadUnits],
    ['milliseconds', ms],
  ].map(([name, value]) => [name, number.format(value)]);
  const { index: _, table: __, ...call } = event;
  const copied = (title, text) => [
    element('h3', {}, title),
    element('pre', { tabindex: '0', role: 'region', 'aria-label': title }, text),
  ];
  return [
    table(
      counted(items.length, 'item'),
      ['shard', ...columns],
      items.map((item) => [shardOf(item), ...columns.map((name) => `${item[name] ?? ''}`)]),
    ),
    timeLine(reads, index),
    element(
      'div',
      { class: 'side-by-side' },
      table('Cost', ['', 'count'], facts),
      element('div', {}, ...copied('The event', JSON.stringify(event, undefined, 2))),
      element(
        'div',
        {},
        ...copied(
          'The call in code',
          `await fanOutQuery(new DynamoDB({}), config, ${JSON.stringify(call, undefined, 2)});`,
        ),
      ),
    ),
  ];
}

/** Draws each request as a bar from its start to its response. A round begins when no other request is in flight. */
function timeLine(reads, { index }) {
  const own = reads.filter(({ indexName = '' }) => indexName === index).sort((a, b) => a.fromMs - b.fromMs);
  const startMs = own[0]?.fromMs ?? 0;
  const endMs = Math.max(1, ...own.map(({ toMs }) => toMs - startMs));
  let [round, answeredMs] = [0, Number.NEGATIVE_INFINITY];
  const bars = own.map((read) => {
    if (read.fromMs >= answeredMs) round += 1;
    answeredMs = Math.max(answeredMs, read.toMs);
    return { ...read, fromMs: read.fromMs - startMs, toMs: read.toMs - startMs, round };
  });
  const height = 8 * Math.max(1, bars.length);
  const label = `${counted(bars.length, 'request')} in ${counted(round, 'round')} over ${number.format(endMs)} milliseconds`;
  const svg = element('svg', {
    class: 'time-line',
    viewBox: `0 0 1000 ${height}`,
    preserveAspectRatio: 'none',
    role: 'img',
    'aria-label': label,
    height: Math.min(240, height),
  });
  for (const [at, { fromMs, toMs, round: of, key, items, isThrottled }] of bars.entries()) {
    const x = (1_000 * fromMs) / endMs;
    const title = `${key}: ${items} items, round ${of}, ${number.format(fromMs)} to ${number.format(toMs)} ms`;
    svg.append(
      element(
        'rect',
        {
          class: isThrottled ? 'throttled' : of % 2 === 0 ? 'even' : 'odd',
          ...{ x, y: 8 * at + 1, width: Math.max(2, (1_000 * (toMs - fromMs)) / endMs), height: 6 },
        },
        element('title', {}, title),
      ),
    );
  }
  const ends = [element('span', {}, '0 ms'), element('span', {}, `${number.format(endMs)} ms`)];
  return element(
    'figure',
    {},
    element('figcaption', {}, label),
    svg,
    element('p', { class: 'ends', 'aria-hidden': 'true' }, ...ends),
  );
}
