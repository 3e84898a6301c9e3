// The page of `even-shards local --serve`: shows whole states as the server tells them, twice a second.
import { byId, element, hotIf, number, replace, table } from './elements.js';
import { ask, onSubmit } from './forms.js';
import { indexView, storedView } from './index-view.js';
import { conditionFields, eventOf, pageView } from './query-view.js';
import { streamView } from './stream-view.js';

let before;

function show(state) {
  const seconds = before === undefined ? 0 : (state.atMs - before.atMs) / 1_000;
  replace(
    byId('stream-list'),
    ...state.streams.map((stream, at) => streamView(state, seconds, stream, before?.streams[at])),
  );
  replace(
    byId('index-list'),
    ...state.indexes.map((index, at) => indexView(seconds, index, before?.indexes[at])),
    table(
      'Tables',
      ['table', 'writes', 'write units', 'throttled'],
      state.tables.map(({ path, count, amount, throttled }) => [
        path,
        number.format(count),
        number.format(amount),
        hotIf(throttled > 0, number.format(throttled)),
      ]),
    ),
  );
  before = state;
}

/** What came of each load, the last first. */
const loads = [];

onSubmit(byId('load'), byId('load-problem'), async (data) => {
  const { through, ...numbers } = Object.fromEntries(data);
  const { way, target } = app.loadTargets[Number(through)];
  const options = {
    ...{ way, target },
    ...Object.fromEntries(Object.entries(numbers).map(([name, value]) => [name, Number(value)])),
  };
  const { records, seconds, sentAgain = 'by itself', orderViolations, missing } = await ask('load', options);
  const counts = [records, seconds, sentAgain].map((count) =>
    typeof count === 'string' ? count : number.format(count),
  );
  const wrong = [orderViolations, missing].map((count) => hotIf(count > 0, number.format(count)));
  loads.unshift([throughText({ way, target }), ...counts, ...wrong]);
  const head = ['through', 'records', 'seconds', 'sent again', 'out of order', 'missing'];
  replace(byId('loads'), table('What came of it', head, loads));
});

const throughText = ({ way, target }) => (way === 'producer' ? target : `PutRecords into ${target}`);

onSubmit(byId('stored'), byId('stored-problem'), async (data) => {
  const { path, index } = app.indexes[Number(data.get('index'))];
  replace(byId('stored-result'), ...storedView(await ask('stored', { path, index })));
});

let app;
let nextPage;

async function query({ index, event }) {
  const outcome = await ask('invoke', { name: index.functionPath, event });
  if (outcome.error !== undefined) throw new Error(outcome.error);
  const { cursor } = outcome.answer;
  nextPage = cursor === undefined ? undefined : { index, event: { ...event, cursor } };
  byId('next-page').disabled = nextPage === undefined;
  replace(byId('query-result'), ...pageView(index, event, outcome));
}

const queriedIndex = () => app.indexes[Number(document.querySelector('#query [name=index]').value)];

function showConditions() {
  const index = queriedIndex();
  document.querySelector('#query [name=value]').disabled = index?.valueAttribute === undefined;
  byId('conditions').replaceChildren(...(index === undefined ? [] : conditionFields(index)));
}

onSubmit(byId('query'), byId('query-problem'), async (data) => {
  const index = queriedIndex();
  await query({ index, event: eventOf(data, index) });
});
document.querySelector('#query [name=index]').addEventListener('change', showConditions);
byId('next-page').addEventListener('click', () => {
  query(nextPage).catch((error) => {
    byId('query-problem').textContent = error.message;
  });
});

onSubmit(byId('invoke'), byId('answer'), async (data) => {
  const { reads: _, ...outcome } = await ask('invoke', {
    name: data.get('name'),
    event: JSON.parse(data.get('event')),
  });
  byId('answer').textContent = JSON.stringify(outcome, undefined, 2);
});

function connect() {
  const events = new EventSource('events');
  const connection = byId('connection');
  events.onmessage = ({ data }) => {
    connection.className = '';
    connection.textContent = 'live';
    show(JSON.parse(data));
  };
  // The browser connects again by itself, until the server is there.
  events.onerror = () => {
    connection.className = 'lost';
    connection.textContent = 'the server has gone; it is tried again';
    if (events.readyState === EventSource.CLOSED) setTimeout(connect, 2_000);
  };
}

function offer(form, name, texts) {
  const options = texts.map((text, value) => element('option', { value }, text));
  document.querySelector(`#${form} [name=${name}]`).replaceChildren(...options);
}

ask('app').then((described) => {
  app = described;
  const indexNames = app.indexes.map(({ index, path }) => (index === '' ? path : `${index} of ${path}`));
  const functions = app.functions.map((path) => element('option', {}, path));
  document.querySelector('#invoke [name=name]').replaceChildren(...functions);
  offer('load', 'through', app.loadTargets.map(throughText));
  offer('query', 'index', indexNames);
  offer('stored', 'index', indexNames);
  showConditions();
});
connect();
