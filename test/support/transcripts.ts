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

/** The keys of which the article makes a tree anew. */
const KEYS_OF_THE_ARTICLE = ['0', '32', '9', '57'];

/** The command lines of the guides. `npm run docs:transcripts` writes what they print into the guides. */
export const TRANSCRIPTS: readonly Transcript[] = [
  {
    guide: 'a-key-for-order',
    line: 'plan --input events.ndjson',
    run: (folder) => plan(['--input', fileOf(folder, 'events.ndjson', repositoryEvents())]),
  },
  ...[
    '--shards 3 --count 6',
    '--space 128 --count 7 --tree',
    '--space 128 --count 8 --allocated keys.txt --tree',
    '--space 128 --count 15 --order alternating --tree',
  ].map(
    (flags): Transcript => ({
      guide: 'hash-keys',
      line: `keys ${flags}`,
      run: (folder) => keys(flags.replace('keys.txt', fileOf(folder, 'keys.txt', KEYS_OF_THE_ARTICLE)).split(' ')),
    }),
  ),
  {
    guide: 'planning',
    line: 'plan overload --partitions 10',
    run: () => plan(['overload', '--partitions', '10']),
  },
];

/** What stands in the guide before and behind the transcript. */
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
