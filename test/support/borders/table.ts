import { BORDERS, type Border, type Pair } from './borders';
import { synthesize } from './judge';
import { PAIRS } from './pairs';

/** What the guide says of a pair with a border between its two. */
function verdictOf(pair: Pair, border: Border): 'works' | 'refused' | '—' {
  const synthesis = synthesize(pair, border);
  if (synthesis === undefined) return '—';
  return 'refusal' in synthesis ? 'refused' : 'works';
}

/** The name of a pair in the guide: the construct, and the property or the method that takes the partner. */
export function nameOf({ construct, partner }: Pair): string {
  return `\`${construct}.${partner}\``;
}

/** The verdicts of a pair for all borders, as cells of the table of the guide. */
export function verdictsOf(pair: Pair): string {
  return BORDERS.map((border) => verdictOf(pair, border)).join(' | ');
}

/** The table of the guide: a row for all pairs that have the same verdicts. */
export function bordersTable(): string {
  const namesByVerdicts = new Map<string, string[]>();
  for (const pair of PAIRS) {
    const verdicts = verdictsOf(pair);
    namesByVerdicts.set(verdicts, [...(namesByVerdicts.get(verdicts) ?? []), nameOf(pair)]);
  }
  const header = ['construct and partner', ...BORDERS];
  const rows = [...namesByVerdicts].map(([verdicts, names]) => `| ${names.join(', ')} | ${verdicts} |`);
  return [`| ${header.join(' | ')} |`, `|${' --- |'.repeat(header.length)}`, ...rows].join('\n');
}
