import '../../support/oldest-cdk';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { App } from 'aws-cdk-lib';
import { BlogsStack } from '../../../examples/keyspaces-blogs/blogs-stack';
import { BORDERS, type Border, type Pair } from '../../support/borders/borders';
import { synthesize } from '../../support/borders/judge';
import { PAIRS } from '../../support/borders/pairs';
import { PYTHON_NEEDED } from '../../support/fetched';
import { synthesizeOrdersApp } from '../deploy/orders-app';
import explained from './explained.json';
import {
  AWSLINT,
  awslint,
  CFN_GUARD,
  cfnGuard,
  cfnLint,
  cfnLintAll,
  checkov,
  type Finding,
  fetchLinters,
} from './linters';

/**
 * Runs external linters on the library and on templates: `npm run conformance linters`. The templates are from the
 * reference app, an app with a resharded stream, the Keyspaces example, and each case of docs/guides/borders.md that works. explained.json
 * must explain each finding, and must not contain other explanations.
 */

const available = fetchLinters();
if (!available) console.log(`SKIPPED: cfn-lint and checkov need ${PYTHON_NEEDED}`);
const withGuard = process.env[CFN_GUARD] !== undefined;
if (!withGuard) console.log('SKIPPED: the validator of cfn-guard has no binary for this machine');

const withAwslint = process.env[AWSLINT] !== undefined;
if (!withAwslint) console.log('SKIPPED: npm run conformance linters fetches awslint');

const text = ({ linter, rule, type }: Finding) => `${linter} ${rule} ${type}`;

describe('the templates and the library', () => {
  let folder: string;
  let templates: string[];
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'even-shards-linters-'));
    const reference = join(folder, 'reference');
    const app = { env: { ...process.env, CDK_OUTDIR: reference }, stdio: 'ignore' } as const;
    expect(spawnSync(process.execPath, [resolve('dist/bin/app.js')], app).status).toBe(0);
    const orders = synthesizeOrdersApp({ outdir: join(folder, 'orders'), shardCount: 32, deployedShardCount: 4 });
    const blogs = new App({ outdir: join(folder, 'blogs') });
    new BlogsStack(blogs, 'KeyspacesBlogs');
    templates = [
      join(reference, 'EvenShards.template.json'),
      join(orders, 'Orders.template.json'),
      join(blogs.synth().directory, 'KeyspacesBlogs.template.json'),
    ];
  }, 60_000);

  const findings = (linter: (template: string, resources: Record<string, { Type: string }>) => Finding[]) =>
    templates.flatMap((template) => linter(template, JSON.parse(readFileSync(template, 'utf8')).Resources)).map(text);

  test.each([
    ['cfn-lint', () => findings(cfnLint), available],
    ['checkov', () => findings(checkov), available],
    ['cfn-guard', () => findings(cfnGuard), withGuard],
    ['awslint', () => awslint().map(text), withAwslint],
  ] as const)(
    'explained.json explains each finding of %s, and contains no other explanation',
    (name, found, isThere) => {
      if (!isThere) return;
      const known = (explained as (Finding & { reason: string })[]).filter((finding) => finding.linter === name);
      expect([...new Set(found())].sort()).toEqual(known.map(text).sort());
      for (const { reason } of known) expect(reason).toMatch(/^[A-Z].{40,}\.$/);
    },
    300_000,
  );

  test('cfn-lint finds no error in the template of any case in borders.md that works', () => {
    if (!available) return;
    const bodies = PAIRS.flatMap((pair) => BORDERS.flatMap((border) => templatesOf(pair, border)));
    const files = [...new Set(bodies)].map((body, number) => {
      const file = join(folder, `border-${number}.template.json`);
      writeFileSync(file, body);
      return file;
    });
    expect(files.length).toBeGreaterThan(100);
    const errors = cfnLintAll(files).filter(({ rule }) => rule.startsWith('E'));
    expect([...new Set(errors.map(text))]).toEqual([]);
  }, 1_800_000);

  function templatesOf(pair: Pair, border: Border): string[] {
    const synthesis = synthesize(pair, border);
    return synthesis === undefined || 'refusal' in synthesis ? [] : synthesis.templates.map(({ body }) => body);
  }
});
