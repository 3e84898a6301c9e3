import { element, number, table } from './elements.js';

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
  const note = 'The local console does not see writes to Cassandra. Count the stored rows instead.';
  return [table('Tables of Amazon Keyspaces', head, rows), element('p', { class: 'note' }, note)];
}
