import { BORDERS, type Border, type Pair } from './borders';
import { synthesize } from './judge';
import { PAIRS } from './pairs';

/** What the guide says of a pair with a border between its two. */
function verdictOf(pair: Pair, border: Border): 'works' | 'refused' | '—' {
  const synthesis = synthesize(pair, border);
  if (synthesis === undefined) return '—';
  return 'refusal' in synthesis ? 'refused' : 'works';
}

/** The row of a pair, as the guide has it. */
export function rowOf(pair: Pair): string {
  const cells = [`\`${pair.construct}\``, `\`${pair.partner}\``, ...BORDERS.map((border) => verdictOf(pair, border))];
  return `| ${cells.join(' | ')} |`;
}

/** The table of the guide. */
export function bordersTable(): string {
  const header = ['construct', 'is given', ...BORDERS];
  return [`| ${header.join(' | ')} |`, `|${' --- |'.repeat(header.length)}`, ...PAIRS.map(rowOf)].join('\n');
}
