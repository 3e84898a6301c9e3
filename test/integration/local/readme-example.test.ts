import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import ts from 'typescript';
import { lambdaEnvironment } from '../../../bin/local/functions/lambda-environment';
import { type LocalStack, startLocal } from '../../../bin/local/run-local';
import { runSample } from '../../../bin/local/sample';
import { INDEXES } from '../../../lib/core/contract/function-environment';

const root = join(__dirname, '../../..');

/** Runs the app as `cdk synth` does. The app imports the package by its name, as in a project that has installed it. */
function synthesize(source: string): string {
  const outdir = mkdtempSync(join(tmpdir(), 'readme-example-'));
  const env = { ...process.env, CDK_OUTDIR: outdir, JSII_DEPRECATED: 'quiet' };
  const { status, stderr } = spawnSync(process.execPath, ['-e', transpiled(source, ts.ModuleKind.CommonJS)], {
    cwd: root,
    env,
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(stderr);
  return outdir;
}

describe('the examples of README', () => {
  let app: string;
  let stack: LocalStack;
  const progress: string[] = [];

  beforeAll(async () => {
    const examples = [...readFileSync(join(root, 'README.md'), 'utf8').matchAll(/^```ts\n(.*?)^```$/gms)];
    app = synthesize(examples.map(([, example]) => example!).find((example) => example.includes('ShardedTable'))!);
    stack = await startLocal({ app, onProgress: (line) => progress.push(line) });
  }, 60_000);

  afterAll(() => stack?.stop());

  test('the app has an index with multi-attribute keys', () => {
    expect(readFileSync(join(app, 'Orders.template.json'), 'utf8')).toContain('\\"keyLayout\\":\\"multi-attribute\\"');
  });

  test('the app runs on dynalite with the single-attribute layout, and the local run prints this change of the layout', async () => {
    expect(progress).toContainEqual(
      'index byStatus of Orders/Table has the single-attribute layout here, because dynalite lacks multi-attribute keys; ' +
        'the deployed index keeps its own layout, and rejects items with another type of its value',
    );
    const [query] = stack.functions.filter(({ environment }) => INDEXES in environment);
    expect(JSON.parse(query!.environment[INDEXES]!).byStatus.keyLayout).toBe('single-attribute');

    const printed: string[] = [];
    await runSample(stack, { input: [], print: (line) => printed.push(line) });
    // The sample of the local run uses the table of the app, so it writes orders instead of jobs.
    expect(printed.join('\n')).toContain('\n1000 orders in the index byStatus');
    expect(printed.join('\n')).toContain('shipped 800 on 20 shards');
    expect(printed.join('\n')).not.toMatch(/job|succeeded/);
  }, 60_000);

  test('the application writes an order and reads all pages', async () => {
    const [, example] = /^```mts\n(.*?)^```$/ms.exec(readFileSync(join(root, 'README.md'), 'utf8'))!;
    const [query] = stack.functions.filter(({ environment }) => INDEXES in environment);
    const program = mkdtempSync(join(root, 'dist', 'readme-example-'));
    try {
      writeFileSync(join(program, 'program.mjs'), transpiled(example!, ts.ModuleKind.ES2022));
      const env = {
        ...process.env,
        ...lambdaEnvironment(query!, stack.endpoints),
        BY_STATUS: JSON.stringify(JSON.parse(query!.environment[INDEXES]!).byStatus),
      };
      const { stdout, stderr } = await promisify(execFile)(process.execPath, [join(program, 'program.mjs')], { env });
      expect(stderr).toBe('');
      expect(stdout).toMatch(/orderId: 'o-1',\s+status: 'pending'/);
      expect(stdout.match(/orderId/g)!.length).toBeGreaterThan(25);
    } finally {
      rmSync(program, { recursive: true });
    }
  }, 60_000);
});

function transpiled(source: string, module: ts.ModuleKind): string {
  return ts.transpileModule(source, { compilerOptions: { module, target: ts.ScriptTarget.ES2022 } }).outputText;
}
