import { element, hotIf, number, table } from './elements.js';

/** Names the target of a load, and the way to the target: the producer function, PutRecords, or items of a table. */
export function throughText({ way, target }) {
  if (way === 'put-records') return `PutRecords into ${target}`;
  if (way === 'items') return `items into ${target}`;
  return way === 'registry' ? `${target}, by registry` : target;
}

/** Shows the result of each load, the latest load first. */
export function loadsView(loads) {
  const head = ['through', 'records', 'seconds', 'sent again', 'out of order', 'missing'];
  return loads.length === 0 ? [] : [table('Results', head, loads.map(rowOf))];
}

/** The loads that are still running. */
export function runningOf(loads) {
  return loads.filter(({ result, problem }) => result === undefined && problem === undefined);
}

/** Shows a progress bar for each running load. */
export function progressView(loads) {
  return runningOf(loads).map(({ put, records, ...through }) => {
    const text = `${number.format(put)} of ${number.format(records)} put: ${throughText(through)}`;
    return element(
      'p',
      { class: 'note' },
      element('progress', { max: records, value: put, 'aria-label': text }),
      ` ${text}`,
    );
  });
}

function rowOf({ result, problem, records, isStopped, ...through }) {
  const name = throughText(through);
  if (result === undefined) return [name, number.format(records), problem ?? 'running', '', '', ''];
  const { records: put, seconds, sentAgain, orderViolations, missing } = result;
  const again = sentAgain === undefined ? 'by the producer' : number.format(sentAgain);
  const wrong = [orderViolations, missing].map((count) =>
    count === undefined ? '' : hotIf(count > 0, number.format(count)),
  );
  return [name, `${number.format(put)}${isStopped ? ', stopped' : ''}`, number.format(seconds), again, ...wrong];
}
