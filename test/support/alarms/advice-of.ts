import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const guide = readFileSync(join(__dirname, '../../../docs/guides/monitoring.md'), 'utf8');

/** What the guide to monitoring says under the heading of an alarm, as one line. */
export function adviceOf(heading: string): string {
  return guide.split(`\n### ${heading}\n`)[1]!.split('\n##')[0]!.replaceAll(/\s+/g, ' ');
}
