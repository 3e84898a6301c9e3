import { element, hotIf, number, table } from './elements.js';

/**
 * Shows the functions that read streams, and their parked keys. A click on a button of a parked key calls `change`.
 */
export function consumersView(consumers, change) {
  if (consumers.length === 0) return [];
  const head = ['function', 'reads', 'handled', 'waiting', 'retries', 'parked keys', 'last problem'];
  const rows = consumers.map(({ functionPath, streamPath, done, waiting, failures, parked, problem }) => [
    functionPath,
    streamPath,
    number.format(done),
    number.format(waiting),
    hotIf(failures > 0, number.format(failures)),
    parked === undefined ? '' : hotIf(parked.length > 0, number.format(parked.length)),
    problem ?? '',
  ]);
  return [table('Functions that read a stream', head, rows), ...consumers.flatMap((each) => parkedView(each, change))];
}

const CHANGES = ['resume', 'skip', 'drop'];

function parkedView({ functionPath, parked = [] }, change) {
  if (parked.length === 0) return [];
  const head = ['partition key', 'waiting records', 'parked since', 'tries', 'last error', 'actions'];
  const rows = parked.map(({ partitionKey, records, since, tries, lastError, dead }) => [
    partitionKey,
    number.format(records),
    new Date(since).toLocaleTimeString(),
    hotIf(dead, dead ? `${tries}, dead` : `${tries}`),
    lastError ?? '',
    '',
  ]);
  const made = table(`Parked keys of ${functionPath}`, head, rows);
  for (const [at, { partitionKey }] of parked.entries()) {
    const buttons = CHANGES.map((name) => {
      const button = element('button', { type: 'button', 'aria-label': `${name} ${partitionKey}` }, name);
      button.addEventListener('click', () => change({ functionPath, partitionKey, change: name }));
      return button;
    });
    made.querySelectorAll('tbody tr')[at].lastElementChild.append(...buttons);
  }
  return [made];
}
