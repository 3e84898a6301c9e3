import { escaped, PLOT_STYLE, type Plot } from './plots/plot';
import { plotsOf } from './simulation-picture';
import { findings, type SimulationReport, summary } from './simulation-report';

const STYLE = `
:root { color-scheme: light dark; --paper: #f6f7f9; --card: #ffffff; --ink: #1d1f24; --soft: #5d626c; --line: #dfe2e8; --hot: #c93a27; }
@media (prefers-color-scheme: dark) { :root { --paper: #121418; --card: #1b1e24; --ink: #e9ebef; --soft: #a3a9b5; --line: #30353e; --hot: #ff8a77; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; -webkit-text-size-adjust: 100%; }
main { max-width: 1180px; margin: 0 auto; padding: clamp(20px, 4vw, 48px) clamp(14px, 3vw, 32px) 48px; }
h1 { font-size: clamp(22px, 3.4vw, 34px); line-height: 1.2; letter-spacing: -0.015em; margin: 0 0 14px; text-wrap: balance; }
ul { margin: 0 0 28px; padding-left: 1.15em; max-width: 72ch; color: var(--soft); } li { margin: 5px 0; } li:first-child { color: var(--ink); }
.plots { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 440px), 1fr)); gap: 18px; }
figure { margin: 0; background: var(--card); border: 1px solid var(--line); border-radius: 12px; padding: clamp(14px, 2vw, 24px); }
h2 { font-size: 17px; margin: 0 0 4px; letter-spacing: -0.005em; } figcaption { color: var(--soft); font-size: 14px; margin: 0 0 16px; }
figure svg { display: block; width: 100%; height: auto; overflow: visible; }
.numbers { overflow-x: auto; margin-top: 18px; background: var(--card); border: 1px solid var(--line); border-radius: 12px; padding: 6px clamp(14px, 2vw, 24px) 12px; }
table { border-collapse: collapse; width: 100%; font-size: 14px; font-variant-numeric: tabular-nums; white-space: nowrap; }
th, td { text-align: right; padding: 7px 0 7px 18px; border-bottom: 1px solid var(--line); } th:first-child, td:first-child { text-align: left; padding-left: 0; }
th { font-weight: 600; color: var(--soft); } tr:last-child td { border-bottom: 0; } td.hot { color: var(--hot); font-weight: 600; }
.scrolls { display: none; color: var(--soft); font-size: 13px; margin: 18px 0 -12px; } @media (max-width: 760px) { .scrolls { display: block; } }
footer { color: var(--soft); font-size: 13px; margin-top: 22px; max-width: 80ch; }`;

/** A self-contained HTML page for light and dark mode, and for wide and narrow screens. */
export function simulationPage(report: SimulationReport): string {
  const title = summary(report);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${escaped(title)}</title>
<style>${STYLE}${PLOT_STYLE}</style>
</head>
<body>
<main>
<h1>${escaped(title)}</h1>
<ul>${findings(report)
    .map((finding) => `<li>${escaped(asSentence(finding))}</li>`)
    .join('')}</ul>
<div class="plots">
${plotsOf(report).map(figure).join('\n')}
</div>
${table(report)}
<footer>Computed by even-shards simulate of cdk-even-shards, with the code that places keys and items in production. When the shards of a stream are doubled, each key keeps its hash key. The items of an index are written again.</footer>
</main>
</body>
</html>
`;
}

function figure({ title, caption, width, height, body }: Plot): string {
  return `<figure><h2>${escaped(title)}</h2><figcaption>${escaped(caption)}</figcaption>
<svg class="plot" viewBox="0 0 ${width} ${height}" role="img" aria-label="${escaped(title)}">${body}</svg></figure>`;
}

function asSentence(finding: string): string {
  return `${finding.charAt(0).toUpperCase()}${finding.slice(1)}.`;
}

function table({ placements, shardCounts }: SimulationReport): string {
  const head = ['placed by', ...shardCounts.map((count) => `${count} shards`), `empty of ${shardCounts[0]}`];
  const rows = placements.map(({ title, hottest, loads }) => {
    const cells = hottest.map((multiple) => `<td${multiple > 1.5 ? ' class="hot"' : ''}>${multiple.toFixed(2)}×</td>`);
    const empty = loads[0]!.filter((load) => load === 0).length;
    return `<tr><td>${escaped(title)}</td>${cells.join('')}<td>${empty}</td></tr>`;
  });
  return `<p class="scrolls">The table scrolls sideways →</p><div class="numbers" role="region" tabindex="0" aria-label="The numbers, which scroll sideways"><table><thead><tr>${head.map((cell) => `<th scope="col">${cell}</th>`).join('')}</tr></thead>
<tbody>${rows.join('')}</tbody></table></div>`;
}
