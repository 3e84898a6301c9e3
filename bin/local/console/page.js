// The page of `even-shards local --serve`. The server sends its whole state twice a second, and the page shows it.
import { consumersView } from './consumer-view.js';
import { byId, element, hotIf, number, replace, table } from './elements.js';
import { onSubmit, send } from './forms.js';
import { indexView, storedView } from './index-view.js';
import { keyspacesList } from './keyspaces-view.js';
import { streamView } from './stream-view.js';

let before;

function show(state) {
  // A rate is calculated from two states with the same search text.
  if (before?.search !== state.search) before = undefined;
  const seconds = before === undefined ? 0 : (state.atMs - before.atMs) / 1_000;
  replace(
    byId('stream-list'),
    ...state.streams.map((stream, at) => streamView(state, seconds, stream, before?.streams[at])),
    ...noteIfNone(state.streams, 'the app has no stream'),
  );
  replace(
    byId('index-list'),
    ...state.indexes.map((index, at) => indexView(state, seconds, index, before?.indexes[at])),
    ...noteIfNone(state.indexes, 'no function of the app knows a sharded index or table of DynamoDB'),
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
  showConsumers(state.consumers);
  const found = state.indexes.reduce((sum, index) => sum + index.found, 0);
  const finding = state.search === '' ? '' : `${number.format(found)} partition keys found`;
  if (byId('found').textContent !== finding) byId('found').textContent = finding;
  before = state;
}

function noteIfNone(list, text) {
  return list.length === 0 ? [element('p', { class: 'note' }, text)] : [];
}

let shownConsumers;

/**
 * Renders the consumers only if their state has changed, so that a button is not replaced while a person presses it.
 */
function showConsumers(consumers) {
  const seen = JSON.stringify(consumers);
  if (seen === shownConsumers) return;
  shownConsumers = seen;
  replace(byId('consumer-list'), ...consumersView(consumers, changeParked));
}

function changeParked(change) {
  byId('parked-problem').textContent = '';
  send('parked', change).catch((error) => {
    byId('parked-problem').textContent = error.message;
  });
}

onSubmit(byId('stored'), byId('stored-problem'), async (data) => {
  const { path, index } = stores()[Number(data.get('index'))];
  replace(byId('stored-result'), ...storedView(await send('stored', { path, index })));
});

let app;
/** Everything that is sharded: indexes and tables of DynamoDB, and tables of Amazon Keyspaces. */
const stores = () => [...app.indexes, ...app.keyspacesTables];

onSubmit(byId('invoke'), byId('invoke-problem'), async (data) => {
  byId('answer').textContent = '';
  byId('trace').hidden = true;
  const { error, trace, ...outcome } = await send('invoke', {
    name: app.functions[Number(data.get('name'))].path,
    event: eventIn(data.get('event')),
  });
  byId('answer').textContent = JSON.stringify(outcome, undefined, 2);
  byId('trace').hidden = trace === undefined || trace.length === 0;
  document.querySelector('#trace pre').textContent = (trace ?? []).join('\n');
  if (error !== undefined) throw new Error(error);
});

function eventIn(text) {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`the event is not JSON: ${error.message}`);
  }
}

const eventField = document.querySelector('#invoke [name=event]');
let suggestedEvent = eventField.value;

/** Suggests a valid event for the selected function. Does not replace an event that a person typed. */
function suggestEvent() {
  const { event } = app.functions[Number(document.querySelector('#invoke [name=name]').value)] ?? {};
  const text = JSON.stringify(event ?? {}, undefined, 2);
  if (eventField.value === suggestedEvent) eventField.value = text;
  suggestedEvent = text;
}
document.querySelector('#invoke [name=name]').addEventListener('change', suggestEvent);

let events;

/** Subscribes to the states of the server, with the text of the search field. */
function connect() {
  events?.close();
  const opened = new EventSource(`events?${new URLSearchParams({ search: searchField.value })}`);
  const connection = byId('connection');
  events = opened;
  opened.onmessage = ({ data }) => {
    connection.className = '';
    connection.textContent = 'live';
    show(JSON.parse(data));
  };
  // After most errors the browser reconnects. If the browser has closed the event source, the page reconnects.
  opened.onerror = () => {
    connection.className = 'lost';
    connection.textContent = 'the server does not respond; reconnecting';
    if (opened.readyState === EventSource.CLOSED && opened === events) setTimeout(connect, 2_000);
  };
}

const searchField = document.querySelector('#find [name=search]');

/** The search starts this long after the last key press. */
const TYPING_MS = 250;

let typing;
searchField.addEventListener('input', () => {
  clearTimeout(typing);
  typing = setTimeout(connect, TYPING_MS);
});
byId('find').addEventListener('submit', (event) => event.preventDefault());

function offer(form, name, texts) {
  const options = texts.map((text, value) => element('option', { value }, text));
  document.querySelector(`#${form} [name=${name}]`).replaceChildren(...options);
}

send('app').then((described) => {
  app = described;
  const nameOf = ({ index, path }) => (index ? `${index} of ${path}` : path);
  offer(
    'invoke',
    'name',
    app.functions.map(({ path }) => path),
  );
  // Select the first function that has a sample event.
  const at = app.functions.findIndex(({ event }) => Object.keys(event).length > 0);
  if (at >= 0) document.querySelector('#invoke [name=name]').value = `${at}`;
  offer('stored', 'index', stores().map(nameOf));
  replace(byId('keyspaces-list'), ...keyspacesList(app.keyspacesTables));
  suggestEvent();
});
connect();
