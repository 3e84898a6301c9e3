import { writeGuideTable } from '../../support/guide-table';

const GUIDE = 'docs/guides/outbox.md';

/** Writes the table of one part of `npm run bench outbox` into the guide. */
export function writeTable(part: string, header: readonly string[], rows: string[][]): void {
  writeGuideTable(GUIDE, `npm run bench outbox ${part}`, header, rows);
}
