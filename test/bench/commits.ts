import { plan } from '../../bin/plan';
import { simulate } from '../../bin/simulate';
import { writeGuideBlock } from '../support/guide-table';
import { COMMIT_COMMANDS, fenced } from '../support/tables/commit-commands';

/**
 * Prints what the planner and the simulator say of the commits of 43 repositories, and writes it into the guide.
 *
 *   npm run bench commits FILE
 */
async function main(): Promise<void> {
  const [file] = process.argv.slice(2);
  if (file === undefined) throw new Error('name the file of the commits');
  const blocks: string[] = [];
  for (const { command, args } of COMMIT_COMMANDS) {
    blocks.push(fenced({ command, args }, await printed(command === 'plan' ? plan : simulate, args(file))));
  }
  writeGuideBlock('docs/guides/planning.md', 'npm run bench commits FILE', blocks.join('\n\n'));
}

async function printed(run: (args: string[]) => Promise<void>, args: string[]): Promise<string> {
  const lines: string[] = [];
  const { log } = console;
  console.log = (text: string) => void lines.push(text);
  try {
    await run(args);
  } finally {
    console.log = log;
  }
  return lines.join('\n');
}

void main();
