import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import * as core from '../../lib/core';

export type Core = typeof core;

/**
 * Returns the core of the working tree. If the arguments of a bench contain `against REF`, also returns the core at
 * that commit, so that one run compares both.
 */
export async function coresToCompare(benchArguments: readonly string[]): Promise<Map<string, Core>> {
  const at = benchArguments.indexOf('against');
  if (at === -1) return new Map([['now', core]]);
  const ref = benchArguments[at + 1] ?? 'HEAD';
  return new Map([
    [ref, await coreAt(ref)],
    ['now', core],
  ]);
}

/** The core imports only its own modules and Node.js, so its source files are sufficient. */
async function coreAt(ref: string): Promise<Core> {
  const folder = mkdtempSync(join(tmpdir(), 'core-at-'));
  try {
    const input = execFileSync('git', ['archive', ref, 'lib/core'], { maxBuffer: 2 ** 26 });
    execFileSync('tar', ['-x', '-C', folder], { input });
    const outfile = join(folder, 'core.js');
    const entryPoints = [join(folder, 'lib/core/index.ts')];
    await build({ entryPoints, outfile, bundle: true, platform: 'node', target: 'node20' });
    return createRequire(__filename)(outfile);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
