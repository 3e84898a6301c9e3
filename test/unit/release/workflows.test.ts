import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const ROOT = join(__dirname, '../../..');
const WORKFLOWS = join(ROOT, '.github/workflows');
const workflows = readdirSync(WORKFLOWS).map((file) => ({ file, text: readFileSync(join(WORKFLOWS, file), 'utf8') }));
const scripts = Object.keys(JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')).scripts);

describe.each(workflows)('the workflow $file', ({ text }) => {
  test('pins each action to a commit, and has the version of the action in a comment', () => {
    const actions = [...text.matchAll(/uses: (.*)$/gm)].map(([, action]) => action!);
    expect(actions.length).toBeGreaterThan(0);
    for (const action of actions) expect(action).toMatch(/^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
  });

  test('has a read-only GitHub token by default', () => {
    const [header] = text.split(/^jobs:$/m);
    expect(header).toMatch(/^permissions:\n {2}contents: read\n(?! )/m);
  });

  test('keeps no token in a clone of the repository, because other code could read the token', () => {
    const clones = text.match(/uses: actions\/checkout@/g) ?? [];
    expect(text.match(/checkout@.*\n {8}with:\n {10}persist-credentials: false\n/g) ?? []).toHaveLength(clones.length);
  });

  test('runs only scripts and files that exist', () => {
    for (const [, script] of text.matchAll(/npm run ([\w:-]+)(?! --prefix)/g)) expect(scripts).toContain(script);
    for (const [, file] of text.matchAll(/(?:node|bash|run:) (\.?[\w.-]+\/[\w./-]+)/g)) {
      expect({ file, exists: existsSync(join(ROOT, file!)) }).toEqual({ file, exists: true });
    }
  });

  test('gives an identity or a write token only to jobs that run no build and no test', () => {
    for (const job of jobsOf(text)) {
      if (!/^ {6}[\w-]+: write$/m.test(job)) continue;
      const commands = [...job.matchAll(/(npm (?:ci|install|run|test)[^\n]*|\.ci\/run)/g)].map(([command]) => command);
      for (const command of commands) expect(command).toBe('npm ci --prefix release --ignore-scripts');
    }
  });

  test('verifies the checksums of the built packages after each download', () => {
    for (const job of jobsOf(text)) {
      const downloads = job.match(/uses: actions\/download-artifact@/g) ?? [];
      const verified = job.match(
        /download-artifact@.*\n {8}with:\n {10}name: packages\n {10}path: dist\n {6}- run: node release\/checksums\.mjs verify dist "\$CHECKSUMS"\n {8}env:\n {10}CHECKSUMS: \$\{\{ needs\.package\.outputs\.checksums \}\}\n/g,
      );
      expect(verified ?? []).toHaveLength(downloads.length);
      if (downloads.length > 0) expect(job).toMatch(/^ {4}needs: (package|\[package, .*\])$/m);
    }
  });

  test('has a timeout for every job', () => {
    for (const job of jobsOf(text)) expect(job).toMatch(/^ {4}timeout-minutes: \d+$/m);
  });
});

/** The jobs of a workflow, as text. */
function jobsOf(text: string): string[] {
  return text
    .split(/^jobs:$/m)[1]!
    .split(/^ {2}(?=[\w-]+:$)/m)
    .slice(1);
}

/** Excludes the apps in other languages, because their dependencies have pinned versions. */
const PINNED = ':!test/conformance/languages/*/*';

test.each([
  ['package-lock.json', ''],
  ['requirements.txt', ''],
  ['go.mod', 'test/conformance/'],
  ['pom.xml', 'test/conformance/'],
])('Dependabot updates the dependencies of every %s in the folder %j', (manifest, under) => {
  const patterns = [`${under}*${manifest}`, PINNED];
  const files = execFileSync('git', ['ls-files', ...patterns], { cwd: ROOT, encoding: 'utf8' })
    .trim()
    .split('\n');
  const dependabot = readFileSync(join(ROOT, '.github/dependabot.yml'), 'utf8');
  expect(files.length).toBeGreaterThan(0);
  for (const file of files) {
    const folder = `/${dirname(file)}`.replace(/^\/\.$/, '/');
    expect(dependabot).toMatch(new RegExp(`director(y|ies): .*(?<=[ '])${folder}['\n]`));
  }
});
