// What views are made of.
export const number = new Intl.NumberFormat('en', { maximumFractionDigits: 1 });
const SVG = 'http://www.w3.org/2000/svg';
const OF_SVG = ['svg', 'rect', 'line', 'title', 'text'];

export const byId = (id) => document.getElementById(id);

/** An element with attributes and children; texts become text, never HTML. */
export function element(name, attributes = {}, ...children) {
  const made = OF_SVG.includes(name) ? document.createElementNS(SVG, name) : document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

/** A number of things: "1 shard", "1,000 shards". */
export function counted(count, thing) {
  return `${number.format(count)} ${thing}${count === 1 ? '' : 's'}`;
}

/** A cell that stands out if something is wrong. */
export const hotIf = (isHot, text) => ({ text, isHot });

/** Longer texts of a cell end in dots: one long attribute would hide all others. */
const MOST_CHARACTERS = 48;

const cut = (text) => (text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS - 1)}…` : text);

/** A path that is too long for its line goes on behind a slash. */
const breakable = (text) =>
  text.split('/').flatMap((part, index) => (index === 0 ? [part] : ['/', element('wbr'), part]));

/** A table whose first column names its rows; wider than its place, it scrolls by itself. Without rows, its caption alone. */
export function table(caption, head, rows) {
  const cell = (content, index) => {
    const { text, isHot } = typeof content === 'object' ? content : { text: content, isHot: false };
    return element(
      index === 0 ? 'th' : 'td',
      { ...(index === 0 && { scope: 'row' }), ...(isHot && { class: 'hot' }) },
      ...breakable(cut(`${text}`)),
    );
  };
  const titles = head.map((title) => element('th', { scope: 'col' }, title));
  const grid = element(
    'table',
    { 'aria-label': caption },
    element('thead', {}, element('tr', {}, ...titles)),
    element('tbody', {}, ...rows.map((row) => element('tr', {}, ...row.map(cell)))),
  );
  return element(
    'div',
    { class: 'wide-table', tabindex: '0', role: 'region', 'aria-label': caption },
    element('p', { class: 'caption' }, caption),
    ...(rows.length === 0 ? [] : [grid]),
  );
}

/** Replaces what a view shows, where it shows something else, and keeps how far its tables are scrolled. */
export function replace(place, ...children) {
  const left = [...place.querySelectorAll('.wide-table')].map(({ scrollLeft }) => scrollLeft);
  const focused = [...place.querySelectorAll('[tabindex]')].indexOf(document.activeElement);
  place.replaceChildren(...children);
  for (const [index, each] of [...place.querySelectorAll('.wide-table')].entries()) each.scrollLeft = left[index] ?? 0;
  if (focused >= 0) place.querySelectorAll('[tabindex]')[focused]?.focus({ preventScroll: true });
}

/** What happened a second between two states, of a thing that both have. */
export function rateOf(seconds, now, was) {
  if (!(seconds > 0)) return { count: 0, amount: 0, throttled: 0 };
  const per = (field) => Math.max(0, now[field] - (was?.[field] ?? 0)) / seconds;
  return { count: per('count'), amount: per('amount'), throttled: per('throttled') };
}
