// Elements that all views use.
export const number = new Intl.NumberFormat('en', { maximumFractionDigits: 1 });
const SVG = 'http://www.w3.org/2000/svg';
const OF_SVG = ['svg', 'rect', 'line', 'title', 'text'];

export const byId = (id) => document.getElementById(id);

/** Creates an element with attributes and children. A string becomes a text node and is never parsed as HTML. */
export function element(name, attributes = {}, ...children) {
  const made = OF_SVG.includes(name) ? document.createElementNS(SVG, name) : document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

/** A count with its noun: "1 shard", "1,000 shards". */
export function counted(count, thing) {
  return `${number.format(count)} ${thing}${count === 1 ? '' : 's'}`;
}

/** A table cell that is highlighted if `isHot` is true. */
export const hotIf = (isHot, text) => ({ text, isHot });

/** A longer text in a cell is truncated, so that one long attribute does not hide the other columns. */
const MAX_CHARACTERS = 48;

const cut = (text) => (text.length > MAX_CHARACTERS ? `${text.slice(0, MAX_CHARACTERS - 1)}…` : text);

/** Lets the browser break a long path after each slash. */
const breakable = (text) =>
  text.split('/').flatMap((part, index) => (index === 0 ? [part] : ['/', element('wbr'), part]));

/**
 * A table whose first column names its rows. A wide table scrolls horizontally. If there are no rows, only the caption
 * is shown.
 */
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

/** Replaces the children of an element. Keeps the scroll position of its tables and the focus. */
export function replace(place, ...children) {
  const left = [...place.querySelectorAll('.wide-table')].map(({ scrollLeft }) => scrollLeft);
  const focused = [...place.querySelectorAll('[tabindex]')].indexOf(document.activeElement);
  place.replaceChildren(...children);
  for (const [index, each] of [...place.querySelectorAll('.wide-table')].entries()) each.scrollLeft = left[index] ?? 0;
  if (focused >= 0) place.querySelectorAll('[tabindex]')[focused]?.focus({ preventScroll: true });
}

/** The rates per second between two states of the same shard or index entry. */
export function rateOf(seconds, now, was) {
  if (!(seconds > 0)) return { count: 0, amount: 0, throttled: 0 };
  const per = (field) => Math.max(0, now[field] - (was?.[field] ?? 0)) / seconds;
  return { count: per('count'), amount: per('amount'), throttled: per('throttled') };
}
