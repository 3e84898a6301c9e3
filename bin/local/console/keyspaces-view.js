import { element, number, table } from './elements.js';

/** The table shows at most this many columns. */
const MOST_COLUMNS = 6;

/** Whether an entry is a table of Amazon Keyspaces. All other entries are indexes or tables of DynamoDB. */
export const isOfKeyspaces = ({ partitionKey }) => partitionKey !== undefined;

/** Lists the Keyspaces tables of the app, with a note that the page cannot count their writes. */
export function keyspacesList(tables) {
  if (tables.length === 0) return [];
  const rows = tables.map(({ path, name, shards: { default: others, byValue = {} } }) => [
    path,
    name,
    number.format(others.write),
    number.format(others.read),
    number.format(Object.keys(byValue).length),
  ]);
  const head = ['table', 'in Cassandra', 'shards of writers', 'shards of readers', 'values with counts of their own'];
  const note = 'The local console does not see writes to Cassandra. Count the stored rows, or query a table.';
  return [table('Tables of Amazon Keyspaces', head, rows), element('p', { class: 'note' }, note)];
}

/** A field for each column of the partition key except the shard column. */
export function keyFields({ partitionKey }) {
  return partitionKey.map(({ name, type }) =>
    element(
      'label',
      { class: 'condition' },
      element('b', {}, name),
      ' = ',
      element('input', { name: `key ${name}`, placeholder: type, required: '', size: '12' }),
    ),
  );
}

/** The event of the query function that the form describes. */
export function rowEventOf(data, { query, partitionKey, sortKeyAttributes }) {
  const where = {};
  for (const { attribute, type } of sortKeyAttributes) {
    const operator = data.get(`operator ${attribute}`);
    if (!operator) continue;
    const from = plain(type, data.get(`from ${attribute}`));
    where[attribute] = { [operator]: operator === 'between' ? [from, plain(type, data.get(`to ${attribute}`))] : from };
  }
  return {
    ...query.event,
    value: Object.fromEntries(partitionKey.map(({ name, type }) => [name, plain(type, data.get(`key ${name}`))])),
    ...(Object.keys(where).length > 0 && { where }),
    order: data.get('order'),
    limit: Number(data.get('limit')),
  };
}

/** The JSON value for a text of this column type. Integers, decimals, dates and times stay strings. */
function plain(type, text) {
  if (type === 'boolean') return text === 'true';
  return type === 'double' || type === 'float' ? Number(text) : text;
}

/** Shows a page of a query: the rows with their shards, the counts of requests and rows, and texts to copy. */
export function rowPageView({ shardColumn }, event, { answer: { rows, stats }, ms }) {
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))]
    .filter((name) => name !== shardColumn)
    .slice(0, MOST_COLUMNS);
  const facts = [
    ['shards', stats.shards],
    ['requests', stats.requests],
    ['rounds', stats.waves],
    ['rows read', stats.rowsRead],
    ['milliseconds', ms],
  ].map(([name, value]) => [name, number.format(value)]);
  const { table: _, ...call } = event;
  const copied = (title, text) =>
    element(
      'div',
      {},
      element('h3', {}, title),
      element('pre', { tabindex: '0', role: 'region', 'aria-label': title }, text),
    );
  const textOf = (value) => (typeof value === 'object' && value !== null ? JSON.stringify(value) : `${value ?? ''}`);
  return [
    table(
      `${rows.length} row${rows.length === 1 ? '' : 's'}`,
      ['shard', ...columns],
      rows.map((row) => [`${row[shardColumn] ?? ''}`, ...columns.map((name) => textOf(row[name]))]),
    ),
    element(
      'div',
      { class: 'side-by-side' },
      table('Cost', ['', 'count'], facts),
      copied('The event', JSON.stringify(event, undefined, 2)),
      copied('The call in code', `await fanOutSelect(client, config, ${JSON.stringify(call, undefined, 2)});`),
    ),
  ];
}
