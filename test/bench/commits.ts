import { plan } from '../../bin/plan';
import { writeGuideBlock } from '../support/guide-table';
import { commitArguments, fenced } from '../support/tables/commit-commands';

/**
 * Plans the commits of 43 repositories, and writes the plan into the guide.
 *
 *   npm run bench commits FILE
 */
async function main(): Promise<void> {
  const [file] = process.argv.slice(2);
  if (file === undefined) throw new Error('give the file of the commits');
  const lines: string[] = [];
  const { log } = console;
  console.log = (text: string) => void lines.push(text);
  try {
    await plan(commitArguments(file));
  } finally {
    console.log = log;
  }
  writeGuideBlock('docs/guides/planning.md', 'npm run bench commits FILE', fenced(lines.join('\n')));
}

void main();
