import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { build } from 'esbuild';
import { hasPostgres } from '../support/postgres/postgres-server';

/** Soaks and benches otherwise run only at night. These tests bundle them, and run each soak with a few cases. */

const programsOf = (folder: string) => readdirSync(folder).flatMap((file) => /^(.+)\.ts$/.exec(file)?.[1] ?? []);

const FEW_CASES: Record<string, string[]> = {
  'fan-out': ['20', '1'],
  'fan-out-dynalite': ['2', '1'],
  'fan-out-inserts': ['20', '1'],
  'grown-counts': ['1200'],
  fuzz: ['--only', 'registry', '--seed', '1'],
  moves: ['3', '1'],
  outbox: ['1', '1'],
  // 0.01 minutes are enough for one round.
  'outbox-load': ['0.01', '1'],
  producer: ['20', '1'],
  registry: ['--allocators', '4', '--owners', '20', '--shards', '4'],
  'reshard-items': ['2', '1'],
};

test.each(programsOf('test/models/soak'))(
  'the soak %s runs a few cases without an error',
  (name) => {
    if (name.startsWith('outbox') && !hasPostgres) return;
    const soak = ['scripts/run-bundled.mjs', 'test/models/soak', name, ...FEW_CASES[name]!];
    const { status, stdout, stderr } = spawnSync(process.execPath, soak, { encoding: 'utf8' });
    if (status !== 0) throw new Error(stderr);
    expect(stdout).not.toBe('');
  },
  120_000,
);

test.each(programsOf('test/models/soak'))('the nightly workflow runs the soak %s', (name) => {
  expect(readFileSync('.github/workflows/nightly.yml', 'utf8')).toMatch(new RegExp(`soak(: | )${name}\\b`));
});

test.each(['test/models/soak', 'test/bench'])(
  'no file of %s exports anything, because each file is a program',
  (folder) => {
    const exporting = programsOf(folder).filter((name) =>
      /^export /m.test(readFileSync(`${folder}/${name}.ts`, 'utf8')),
    );
    expect(exporting).toEqual([]);
  },
);

test('every bench can be bundled', async () => {
  const entryPoints = programsOf('test/bench').map((name) => `test/bench/${name}.ts`);
  const { errors, warnings } = await build({
    entryPoints,
    bundle: true,
    packages: 'external',
    platform: 'node',
    write: false,
    outdir: 'dist/test/bench',
    logLevel: 'silent',
  });
  expect([...errors, ...warnings]).toEqual([]);
});
