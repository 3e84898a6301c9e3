import type { Engine } from './engines';

/** What a unit costs an engine at each size. */
export interface Measured {
  readonly engine: Engine;
  readonly points: readonly { readonly size: number; readonly microseconds: number; readonly bytes: number }[];
}

const WIDTH = 270;
const HEIGHT = 150;
const COLUMNS = 3;
const LEFT = 24;
const TOP = 34;
const PLOT_WIDTH = 220;
const PLOT_HEIGHT = 80;
/** The sizes and the ratios that a panel shows. */
const DECADES = [2, 6] as const;
const MOST_RATIO = 4;

/** A panel for each engine: its cost a unit in relation to the cheapest size, over the size, and the line that it should stay below. */
export function growthPicture(measured: readonly Measured[]): string {
  const rows = Math.ceil(measured.length / COLUMNS);
  const size = `${WIDTH * COLUMNS} ${HEIGHT * rows}`;
  const panels = measured.map((each, index) => {
    const x = (index % COLUMNS) * WIDTH;
    const y = Math.floor(index / COLUMNS) * HEIGHT;
    return `<g transform="translate(${x} ${y})">${panel(each)}</g>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${size}" role="img" aria-labelledby="title" font-family="ui-sans-serif, system-ui, sans-serif" font-size="11">
<title id="title">The cost of a unit in relation to the cheapest size, for each engine, as its input grows</title>
<rect width="100%" height="100%" fill="#fff"/>
${panels.join('\n')}
</svg>
`;
}

function panel({ engine, points }: Measured): string {
  const cheapest = Math.min(...points.map(({ microseconds }) => microseconds));
  const at = points.map(({ size, microseconds }) => [xOf(size), yOf(microseconds / cheapest)] as const);
  const line = at.map((place) => place.join(',')).join(' ');
  const ticks = points.map(
    ({ size }) =>
      `<text x="${xOf(size)}" y="${TOP + PLOT_HEIGHT + 14}" text-anchor="middle" fill="#555">10<tspan dy="-4" font-size="8">${Math.round(Math.log10(size))}</tspan></text>`,
  );
  const levels = [1, 1.5, MOST_RATIO].map(
    (ratio) =>
      `<line x1="${LEFT}" x2="${LEFT + PLOT_WIDTH}" y1="${yOf(ratio)}" y2="${yOf(ratio)}" stroke="${ratio === 1.5 ? '#c33' : '#ddd'}" stroke-dasharray="${ratio === 1.5 ? '4 3' : 'none'}"/><text x="${LEFT - 3}" y="${yOf(ratio) + 4}" text-anchor="end" fill="#555">${ratio}</text>`,
  );
  const dots = at.map(([x, y]) => `<circle cx="${x}" cy="${y}" r="2.5" fill="#0a5"/>`);
  return [
    `<text x="${LEFT}" y="18" font-weight="600" fill="#222">${engine.name}</text>`,
    ...levels,
    ...ticks,
    `<polyline points="${line}" fill="none" stroke="#0a5" stroke-width="1.5"/>`,
    ...dots,
  ].join('');
}

function xOf(size: number): number {
  const [first, last] = DECADES;
  return Math.round(LEFT + 10 + ((Math.log10(size) - first) / (last - first)) * (PLOT_WIDTH - 20));
}

/** Ratios beyond the panel stay at its edge; the table has them. */
function yOf(ratio: number): number {
  const part = Math.log(Math.min(ratio, MOST_RATIO)) / Math.log(MOST_RATIO);
  return Math.round(TOP + PLOT_HEIGHT * (1 - part));
}
