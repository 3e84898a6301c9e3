// The page of `even-shards local --serve`: shows whole states as the server tells them, twice a second.
const byId = (id) => document.getElementById(id);
const number = new Intl.NumberFormat('en', { maximumFractionDigits: 1 });
const SVG = 'http://www.w3.org/2000/svg';

/** More shards than these have no row of their own: the bar shows them all. */
const MOST_ROWS = 32;
const MOST_VALUES = 40;

/** An element with attributes and children; texts become text, never HTML. */
function element(name, attributes = {}, ...children) {
  const made = ['svg', 'rect', 'line', 'title'].includes(name)
    ? document.createElementNS(SVG, name)
    : document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

function table(caption, head, rows) {
  const cell = (content, index) => {
    const { text, isHot } = typeof content === 'object' ? content : { text: content, isHot: false };
    return element(
      index === 0 ? 'th' : 'td',
      { ...(index === 0 && { scope: 'row' }), ...(isHot && { class: 'hot' }) },
      `${text}`,
    );
  };
  const titles = head.map((title) => element('th', { scope: 'col' }, title));
  return element(
    'div',
    { class: 'wide-table', tabindex: '0', role: 'region', 'aria-label': caption },
    element(
      'table',
      {},
      element('caption', {}, caption),
      element('thead', {}, element('tr', {}, ...titles)),
      element('tbody', {}, ...rows.map((row) => element('tr', {}, ...row.map(cell)))),
    ),
  );
}

const hotIf = (isHot, text) => ({ text, isHot });

let before;

/** What happened a second since the state before, of a thing that has a name there. */
function rateOf(state, now, was) {
  const seconds = before === undefined ? 0 : (state.atMs - before.atMs) / 1_000;
  if (seconds <= 0) return { count: 0, amount: 0, throttled: 0 };
  const per = (field) => Math.max(0, now[field] - (was?.[field] ?? 0)) / seconds;
  return { count: per('count'), amount: per('amount'), throttled: per('throttled') };
}

function show(state) {
  byId('stream-list').replaceChildren(
    ...state.streams.map((stream, index) => streamView(state, stream, before?.streams[index])),
  );
  byId('index-list').replaceChildren(
    ...state.indexes.map((index, at) => indexView(state, index, before?.indexes[at])),
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

function streamView(state, { path, shards, keys }, was) {
  const loads = shards.map((shard, index) => ({
    ...shard,
    rate: rateOf(state, shard, was?.shards[index]?.shardId === shard.shardId ? was.shards[index] : undefined),
  }));
  const limit = state.limits?.recordsPerSecond;
  const byteLimit = state.limits?.bytesPerSecond;
  const most = limit ?? Math.max(1, ...loads.map(({ rate }) => rate.count));
  const mean = loads.reduce((sum, { count }) => sum + count, 0) / Math.max(1, loads.length);
  const skew = mean === 0 ? 1 : Math.max(...loads.map(({ count }) => count)) / mean;
  const bar = element('svg', {
    class: 'bar',
    viewBox: '0 0 1000 72',
    preserveAspectRatio: 'none',
    role: 'img',
    'aria-label': `the ${shards.length} shards of ${path} by hash key`,
  });
  for (const { shardId, from, to, rate } of loads) {
    const [x, width] = [from * 1_000, (to - from) * 1_000];
    const used = Math.min(1, Math.max(rate.count / most, byteLimit ? rate.amount / byteLimit : 0)) * 60;
    bar.append(element('rect', { class: 'shard', x, width, y: 0, height: 60 }, element('title', {}, shardId)));
    bar.append(
      element('rect', { class: rate.throttled > 0 ? 'throttled' : 'used', x, width, y: 60 - used, height: used }),
    );
  }
  for (const { at, isPlaced } of keys) {
    bar.append(
      element('line', { class: isPlaced ? 'key placed' : 'key', x1: at * 1_000, x2: at * 1_000, y1: 60, y2: 72 }),
    );
  }
  const rows = loads.toSorted((a, b) => b.count + b.throttled - a.count - a.throttled).slice(0, MOST_ROWS);
  const of = (value, bound) =>
    bound === undefined ? number.format(value) : `${number.format(value)} of ${number.format(bound)}`;
  return element(
    'article',
    {},
    element('h3', {}, `${path}: ${shards.length} shards, hottest ${number.format(skew)} times the mean`),
    bar,
    table(
      shards.length > MOST_ROWS ? `The ${MOST_ROWS} busiest shards` : 'Shards, the busiest first',
      ['shard', 'records/s', 'bytes/s', 'records', 'throttled'],
      rows.map(({ shardId, rate, count, throttled }) => [
        shardId,
        of(rate.count, limit),
        of(rate.amount, byteLimit),
        number.format(count),
        hotIf(throttled > 0, number.format(throttled)),
      ]),
    ),
    table(
      'The busiest keys',
      ['key', 'placed by', 'at', 'records', 'throttled'],
      keys.map(({ key, isPlaced, at, count, throttled }) => [
        key,
        isPlaced ? 'hash key' : 'MD5',
        `${number.format(100 * at)} %`,
        number.format(count),
        hotIf(throttled > 0, number.format(throttled)),
      ]),
    ),
  );
}

function indexView(state, { path, index, entries, shardCounts }, was) {
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
      const isThrottled = rateOf(state, entry, old.get(`${value} ${entry.shard}`)).throttled > 0;
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
      ofValue.map((entry) => rateOf(state, entry, old.get(`${value} ${entry.shard}`))),
      'count',
    );
  return element(
    'article',
    {},
    element('h3', {}, `${index} of ${path}`),
    heat,
    table(
      'Values',
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
  );
}

async function ask(action, input = {}) {
  const response = await fetch(action, { method: 'POST', body: JSON.stringify(input) });
  const output = await response.json();
  if (!response.ok) throw new Error(output.problem);
  return output;
}

/** A form that is sent once at a time; what goes wrong is said where `problem` is. */
function onSubmit(form, problem, act) {
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    const buttons = [...form.querySelectorAll('button')].filter(({ disabled }) => !disabled);
    for (const button of buttons) button.disabled = true;
    problem.textContent = '';
    try {
      await act(new FormData(form));
    } catch (error) {
      problem.textContent = error.message;
    }
    for (const button of buttons) button.disabled = false;
  });
}

onSubmit(byId('load'), byId('load-problem'), async (data) => {
  const { way, ...numbers } = Object.fromEntries(data);
  const options = { way, ...Object.fromEntries(Object.entries(numbers).map(([name, value]) => [name, Number(value)])) };
  const { records, seconds, sentAgain = 'by itself', orderViolations, missing } = await ask('load', options);
  const cell = (content, isHot = false) => element('td', isHot ? { class: 'hot' } : {}, `${content}`);
  byId('loads').prepend(
    element(
      'tr',
      {},
      element('th', { scope: 'row' }, way),
      cell(records),
      cell(number.format(seconds)),
      cell(sentAgain),
      cell(orderViolations, orderViolations > 0),
      cell(missing, missing > 0),
    ),
  );
});

let app;
let nextPage;

async function query(request) {
  const { functionPath, index } = request;
  const { answer, error, ms } = await ask('invoke', { name: functionPath, event: request.event });
  if (error !== undefined) throw new Error(error);
  const { items, stats, cursor } = answer;
  const { shardAttribute } = app.indexes.find(({ indexName }) => indexName === index);
  const shardOf = (item) => /(\d+)$/.exec(`${item[shardAttribute] ?? ''}`)?.[1] ?? '';
  const columns = [...new Set(items.flatMap((item) => Object.keys(item)))]
    .filter((name) => name !== shardAttribute)
    .slice(0, 6);
  nextPage = cursor === undefined ? undefined : { ...request, event: { ...request.event, cursor } };
  byId('next-page').disabled = nextPage === undefined;
  // The naive way asks every shard for a whole page.
  const naiveItems = stats.shards * (request.event.limit ?? items.length);
  const naiveReadUnits = (stats.consumedReadUnits / Math.max(1, stats.itemsRead)) * naiveItems;
  const facts = Object.entries({ ...stats, naiveReadUnits, ms }).map(([name, value]) => [name, number.format(value)]);
  const shown = JSON.stringify(request.event, undefined, 2);
  const { index: _, ...call } = request.event;
  byId('query-result').replaceChildren(
    table(
      `${items.length} items`,
      ['shard', ...columns],
      items.map((item) => [shardOf(item), ...columns.map((name) => `${item[name] ?? ''}`)]),
    ),
    table('What it took', ['', 'count'], facts),
    element('h3', {}, 'The event'),
    element('pre', { tabindex: '0', 'aria-label': 'the event' }, shown),
    element('h3', {}, 'The call of the core'),
    element(
      'pre',
      { tabindex: '0', 'aria-label': 'the call of the core' },
      `await fanOutQuery(new DynamoDB({}), config, ${JSON.stringify(call, undefined, 2)});`,
    ),
  );
}

onSubmit(byId('query'), byId('query-problem'), async (data) => {
  const index = data.get('index');
  const { functionPath, valueAttribute } = app.indexes.find(({ indexName }) => indexName === index);
  const value = valueAttribute === undefined ? {} : { value: data.get('value') };
  const event = { index, ...value, order: data.get('order'), limit: Number(data.get('limit')) };
  await query({ functionPath, index, event });
});
byId('next-page').addEventListener('click', () => {
  query(nextPage).catch((error) => {
    byId('query-problem').textContent = error.message;
  });
});

onSubmit(byId('invoke'), byId('answer'), async (data) => {
  const answer = await ask('invoke', { name: data.get('name'), event: JSON.parse(data.get('event')) });
  byId('answer').textContent = JSON.stringify(answer, undefined, 2);
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

ask('app').then((described) => {
  app = described;
  document.querySelector('#invoke select').append(...app.functions.map((path) => element('option', {}, path)));
  document
    .querySelector('#query select')
    .append(...app.indexes.map(({ indexName }) => element('option', {}, indexName)));
});
connect();
