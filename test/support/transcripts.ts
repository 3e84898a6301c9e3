import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { keys } from '../../bin/keys';
import { plan } from '../../bin/plan';
import { repositoryEvents } from './tables/repository-events';

/** A command line that a guide shows, with what it prints. */
export interface Transcript {
  /** The guide, without `.md`. */
  readonly guide: string;
  /** What stands behind `npx even-shards`. */
  readonly line: string;
  /** Runs it, with files of its own in a folder. */
  run(folder: string): Promise<void>;
}

/** The command lines of the guides. `npm run docs:transcripts` writes what they print into the guides. */
export const TRANSCRIPTS: readonly Transcript[] = [
  {
    guide: 'a-key-for-order',
    line: 'plan --input events.ndjson',
    run: (folder) => plan(['--input', fileOf(folder, 'events.ndjson', repositoryEvents())]),
  },
  {
    guide: 'hash-keys',
    line: 'keys --shards 3 --count 6',
    run: () => keys('--shards 3 --count 6'.split(' ')),
  },
];

/** The text around the transcript in the guide. */
export function commandOf({ line }: Transcript): string {
  return `npm run docs:transcripts ${line}`;
}

/** A transcript as the guide has it. */
export function fenced({ line }: Transcript, output: string): string {
  return `\`\`\`\n$ npx even-shards ${line}\n\n${output}\n\`\`\``;
}

function fileOf(folder: string, name: string, lines: readonly string[]): string {
  const path = join(folder, name);
  writeFileSync(path, lines.map((line) => `${line}\n`).join(''));
  return path;
}
