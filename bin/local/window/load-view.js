import { hotIf, number, table } from './elements.js';

/** What a load goes through. */
export function throughText({ way, target }) {
  if (way === 'put-records') return `PutRecords into ${target}`;
  return way === 'registry' ? `${target}, by registry` : target;
}

/** What came of each load, the last first. */
export function loadsView(loads) {
  const head = ['through', 'records', 'seconds', 'sent again', 'out of order', 'missing'];
  return loads.length === 0 ? [] : [table('What came of it', head, loads.map(rowOf))];
}

function rowOf({ result, problem, records, ...through }) {
  const name = throughText(through);
  if (result === undefined) return [name, number.format(records), problem ?? 'running', '', '', ''];
  const { seconds, sentAgain, orderViolations, missing } = result;
  const again = sentAgain === undefined ? 'by itself' : number.format(sentAgain);
  const wrong = [orderViolations, missing].map((count) => hotIf(count > 0, number.format(count)));
  return [name, number.format(records), number.format(seconds), again, ...wrong];
}
