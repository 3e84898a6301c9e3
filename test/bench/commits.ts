import { plan } from '../../bin/plan';
import { writeGuideBlock } from '../support/guide-table';

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
    await plan(['--input', file, '--key', 'repository']);
  } finally {
    console.log = log;
  }
  // The output of the command also has the plan of an index, which the guide leaves out.
  const [stream] = lines.join('\n').split('\n\n\nthe formula of AWS');
  const command = '$ npx even-shards plan --input commits.ndjson.gz --key repository';
  writeGuideBlock('docs/guides/planning.md', 'npm run bench commits FILE', `\`\`\`\n${command}\n\n${stream}\n\`\`\``);
}

void main();
