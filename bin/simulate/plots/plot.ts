/** A plot: the content of an SVG element with this size. The page or the picture around it sets the colours. */
export interface Plot {
  title: string;
  /** The main result of the plot in one or two sentences. */
  caption: string;
  width: number;
  height: number;
  body: string;
}

/** All plots have the same width, so that they fit into a grid or a column. */
export const PLOT_WIDTH = 520;

/** Colours for light and dark mode, and the fonts. */
export const PLOT_STYLE = `
.plot { --ink: #1d1f24; --soft: #666b75; --line: #d9dce2; --even: #2b67d0; --hot: #c93a27; --calm: #0f7d62; --third: #8a5f00; --fourth: #8447c8; --fill: #eef1f6; --card: #ffffff;
  font: 13px/1.4 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; fill: var(--ink); font-variant-numeric: tabular-nums; }
@media (prefers-color-scheme: dark) {
  .plot { --ink: #e9ebef; --soft: #9da3af; --line: #363b45; --even: #74a7ff; --hot: #ff7f6b; --calm: #4fc9a8; --third: #e3b04f; --fourth: #c095f5; --fill: #262a32; --card: #1b1e24; }
}
.plot text { fill: var(--ink); } .plot .soft { fill: var(--soft); } .plot .small { font-size: 11.5px; } .plot .strong { font-weight: 600; }
.plot .axis { stroke: var(--line); stroke-width: 1; fill: none; } .plot .mean { stroke: var(--soft); stroke-width: 1; stroke-dasharray: 3 3; fill: none; }
.plot .end { text-anchor: end; } .plot .middle { text-anchor: middle; }
.plot .even { fill: var(--even); } .plot .hot { fill: var(--hot); } .plot .calm { fill: var(--calm); }
.plot .curve { fill: none; stroke-linejoin: round; } .plot .halo { paint-order: stroke; stroke: var(--card); stroke-width: 4px; stroke-linejoin: round; }
@media (max-width: 560px) { .plot { font-size: 16px; } .plot .small { font-size: 14.5px; } }`;

export function text(x: number, y: number, content: string, classes = ''): string {
  return `<text x="${round(x)}" y="${round(y)}"${classes && ` class="${classes}"`}>${escaped(content)}</text>`;
}

export function line(x1: number, y1: number, x2: number, y2: number, classes: string): string {
  return `<line x1="${round(x1)}" y1="${round(y1)}" x2="${round(x2)}" y2="${round(y2)}" class="${classes}"/>`;
}

export function rectangle(x: number, y: number, width: number, height: number, classes: string, title = ''): string {
  const size = `x="${round(x)}" y="${round(y)}" width="${round(width)}" height="${round(height)}"`;
  return `<rect ${size} class="${classes}">${titled(title)}</rect>`;
}

export function circle(x: number, y: number, radius: number, attributes: string, title = ''): string {
  return `<circle cx="${round(x)}" cy="${round(y)}" r="${round(radius)}" ${attributes}>${titled(title)}</circle>`;
}

/** Escapes any text for XML and HTML. */
export function escaped(content: string): string {
  return content.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** Rounds to the digits that a screen can show. */
export function round(value: number): number {
  return Math.round(value * 100) / 100;
}

function titled(title: string): string {
  return title === '' ? '' : `<title>${escaped(title)}</title>`;
}
