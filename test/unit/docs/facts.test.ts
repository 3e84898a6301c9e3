import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Compares the page of facts with the pages that it quotes. Searches all guides and source files for wrong statements.
 */

const GUIDES = 'docs/guides';
const flat = (text: string) => text.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').replaceAll(/\s+(?:\*(?!\*) )?/g, ' ');
const page = readFileSync(join(GUIDES, 'facts.md'), 'utf8');

/** The rows of the tables under a heading. */
function rowsUnder(heading: string): string[][] {
  const section = page.split(`\n## ${heading}\n`)[1]!.split('\n## ')[0]!;
  const rows = section.split('\n').filter((line) => line.startsWith('| '));
  return rows.slice(2).map((line) => line.split(' | ').map((cell) => cell.replace(/^\| | \|$/g, '')));
}

const statements = [...rowsUnder('Statements'), ...rowsUnder('Assumptions')];

describe('each statement of the guide facts.md', () => {
  test.each(statements)('"%s" appears in %s', (statement, link) => {
    const path = /\]\((.+)\)/.exec(link)![1]!;
    expect(flat(readFileSync(join(GUIDES, path), 'utf8')).toLowerCase()).toContain(
      statement.toLowerCase().replace(/\.$/, ''),
    );
  });

  test.each(statements)('"%s" has a source', (_, __, source) => {
    expect(source).not.toBe('');
  });
});

/** Patterns of wrong statements. The text beside each pattern is an example that matches. */
const WRONG: [RegExp, string][] = [
  [/Kinesis (then )?refuses what/, 'Kinesis then refuses what the function sends'],
  [/(nobody|no one)( else)? (has )?publishe[sd]/i, 'nobody publishes how to add shards on the fly'],
  [/(On-demand mode|It) costs more for each GB/, 'On-demand mode costs more for each GB'],
  [/CloudTrail,? if .{0,40}trail|trail of CloudTrail|needs a trail/, 'A trail of CloudTrail names who else calls'],
  [/one deployment,? (goes )?(from )?1 to 1,024/i, 'one deployment, 1 to 1,024'],
  [
    /(?<!no )Contributor Insights( of the index)? name the (throttled )?keys/,
    'The Contributor Insights of the index name the keys.',
  ],
  [/well[- ]known (rule|fact)/i, 'a well-known rule of thumb'],
  [/one shard of the index gets more than 1,000/, 'one shard of the index gets more than 1,000 write units a second'],
  [/iterator age (of|shows) (all|every) consumers?/i, 'The iterator age of all consumers'],
  [/index has four partitions(?!; AWS)/, 'a new index has four partitions.'],
];

describe('no text contains a statement that matches the pattern', () => {
  const texts = [
    'README.md',
    ...['docs/guides', 'docs/decisions', 'lib', 'lambda', 'bin', 'examples'].flatMap((folder) =>
      readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile() && /\.(md|ts)$/.test(entry.name))
        .map((entry) => join(entry.parentPath, entry.name)),
    ),
  ].filter((path) => !path.endsWith('guides/facts.md'));
  const contents = texts.map(
    (path) => [path, flat(readFileSync(path, 'utf8').replaceAll(/'\s*\+\s*[`']/g, ''))] as const,
  );

  test.each(WRONG)('%p', (wrong, example) => {
    expect(example).toMatch(wrong);
    expect(contents.filter(([, text]) => wrong.test(text)).map(([path]) => path)).toEqual([]);
  });
});
