import { hashKeyRings } from './plots/hash-key-rings';
import { hottestDots } from './plots/hottest-dots';
import { loadRows } from './plots/load-rows';
import { overloadCurves } from './plots/overload-curves';
import { escaped, PLOT_STYLE, PLOT_WIDTH, type Plot } from './plots/plot';
import { findings, type SimulationReport, summary } from './simulation-report';

const MARGIN = 36;
const TITLE = 44;
const HEADER = 96;

/** The plots of a simulation, in reading order. */
export function plotsOf(report: SimulationReport): Plot[] {
  return [loadRows(report), hottestDots(report), hashKeyRings(report), overloadCurves()];
}

/** One picture with all plots in two columns. */
export function simulationPicture(report: SimulationReport): string {
  const columns = [0, 0];
  const placed = plotsOf(report).map((plot) => {
    const column = columns[0]! <= columns[1]! ? 0 : 1;
    const top = HEADER + columns[column]!;
    columns[column]! += plot.height + TITLE + MARGIN;
    const left = MARGIN + column * (PLOT_WIDTH + MARGIN * 1.5);
    return (
      `<g transform="translate(${left} ${top})"><text y="18" style="font-size:16px" class="strong">${escaped(plot.title)}</text>` +
      `<g transform="translate(0 ${TITLE - 6})">${plot.body}</g></g>`
    );
  });
  const width = 2 * PLOT_WIDTH + 3.5 * MARGIN;
  const height = HEADER + Math.max(...columns);
  return `<svg xmlns="http://www.w3.org/2000/svg" class="plot" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${escaped(summary(report))}">
<style>${PLOT_STYLE}</style>
<rect width="${width}" height="${height}" fill="var(--card)"/>
<text x="${MARGIN}" y="50" style="font-size:22px" class="strong">${escaped(summary(report))}</text>
<text x="${MARGIN}" y="74" class="soft">${escaped(findings(report)[0]!)}</text>
${placed.join('\n')}
</svg>
`;
}
