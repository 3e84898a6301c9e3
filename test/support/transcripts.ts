import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { keys } from '../../bin/keys';
import { plan } from '../../bin/plan';
import { repositoryEvents } from './tables/repository-events';

/** A command line in a guide, with its output. */
export interface Transcript {
  /** The file name of the guide, without `.md`. */
  readonly guide: string;
  /** The arguments after `npx even-shards`. */
  readonly line: string;
  /** Runs the command with sample files, which the command creates in this folder. */
  run(folder: string): Promise<void>;
}

/** The command lines of the guides. `npm run docs:transcripts` writes their output into the guides. */
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

/** The command in the comments around the transcript in the guide. */
export function commandOf({ line }: Transcript): string {
  return `npm run docs:transcripts ${line}`;
}

/** The Markdown block of a transcript in the guide. */
export function fenced({ line }: Transcript, output: string): string {
  return `\`\`\`\n$ npx even-shards ${line}\n\n${output}\n\`\`\``;
}

function fileOf(folder: string, name: string, lines: readonly string[]): string {
  const path = join(folder, name);
  writeFileSync(path, lines.map((line) => `${line}\n`).join(''));
  return path;
}
