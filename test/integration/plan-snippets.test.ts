import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Language } from '../../bin/plan/code-language';
import { plannedSnippets, stackOf } from '../support/planned-snippets';

/** Checks that `even-shards plan --language` prints valid code with public names. `npm run languages` runs the code. */

const tools: Record<'python' | 'java', { isFound: boolean; parse(files: string[]): ReturnType<typeof spawnSync> }> = {
  python: {
    isFound: spawnSync('python3', ['--version']).status === 0,
    parse: (files) =>
      spawnSync('python3', [
        '-c',
        'import ast, sys\nfor file in sys.argv[1:]: ast.parse(open(file).read(), file)',
        ...files,
      ]),
  },
  java: {
    isFound: spawnSync('javac', ['-version']).status === 0,
    parse: (files) => spawnSync('java', [join(__dirname, 'Parse.java'), ...files]),
  },
};
const EXTENSIONS = { python: 'py', java: 'java' };

const folder = mkdtempSync(join(tmpdir(), 'snippets-'));

const { types } = JSON.parse(readFileSync('.jsii', 'utf8')) as {
  types: Record<string, { name: string; properties?: Named[]; methods?: (Named & { parameters?: Named[] })[] }>;
};
interface Named {
  name: string;
}
const snake = (name: string) => name.replace(/([a-z0-9])([A-Z])/g, '$1_$2').toLowerCase();
const members = Object.values(types).flatMap(({ properties = [], methods = [] }) => [...properties, ...methods]);
const ofLibrary = {
  types: new Set(Object.values(types).map(({ name }) => name)),
  members: new Set(members.map(({ name }) => name)),
};
/** Names that the snippets use from the CDK and from the languages. */
const OF_OTHERS = {
  types: ['Attribute', 'AttributeType', 'Builder', 'List', 'Map', 'TableV2', 'True'],
  members: [
    ...['name', 'type', 'create', 'builder', 'build', 'of', 'ofEntries', 'entry', 'STRING', 'NUMBER', 'TEXT'],
    ...['fromTableName', 'from_table_name'],
  ],
};

/** The code without its strings and comments. */
const bare = (code: string) => code.replaceAll(/"(?:[^"\\]|\\.)*"/g, '""').replaceAll(/(#|\/\/) .*/g, '');

describe.each(['python', 'java'] as const)('the code that plan prints in %s', (language) => {
  const snippets = Object.entries(plannedSnippets(language));

  (tools[language].isFound ? test : test.skip)(
    `can be parsed${tools[language].isFound ? '' : ' (skipped: the tools of the language are not installed)'}`,
    () => {
      const files = snippets.map(([name, code]) => {
        const file = join(folder, `${name}.${EXTENSIONS[language]}`);
        writeFileSync(file, stackOf(language, name, code));
        return file;
      });
      const { status, stderr } = tools[language].parse(files);
      expect({ status, stderr: String(stderr) }).toEqual({ status: 0, stderr: '' });
      writeFileSync(files[0]!, `${readFileSync(files[0]!, 'utf8')})`);
      expect(tools[language].parse(files).status).toBe(1);
    },
  );

  test.each(snippets)('the snippet has only public names: %s', (_, code) => {
    expect(unknownNames(language, code)).toEqual([]);
  });
});

test('unknownNames returns names that are not public', () => {
  expect(unknownNames('python', 'UniformStreams(self, "a", shards_count=1)')).toEqual([
    'UniformStreams',
    'shards_count',
  ]);
  expect(unknownNames('java', 'UniformStream.Builder.create(this, "a").shards(1).build();')).toEqual(['shards']);
});

function unknownNames(language: Language, code: string): string[] {
  const text = bare(code.replaceAll(/^(import|from) .*$/gm, ''));
  const classes = [...text.matchAll(/\b[A-Z][a-z]\w*/g)].map(([name]) => name);
  const known = language === 'python' ? new Set([...ofLibrary.members].map(snake)) : ofLibrary.members;
  const called = language === 'python' ? /(?<=\.)[a-z]\w*|\b[a-z]\w*(?==(?!=))/g : /(?<=\.)[a-z]\w*(?=\()/g;
  const members = [...text.matchAll(called)].map(([name]) => name);
  return [
    ...classes.filter((name) => !ofLibrary.types.has(name) && !OF_OTHERS.types.includes(name)),
    ...members.filter((name) => !known.has(name) && !OF_OTHERS.members.includes(name)),
  ];
}
