import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { build, type Plugin } from 'esbuild';
import cdkJson from '../../../cdk.json';
import type { Template } from './template';

const ROOT = join(__dirname, '../../..');
const NAME = 'cdk-even-shards';

/**
 * Synthesizes the stacks of `stacks.ts` and the reference app of a package. Returns the folder with the two cloud
 * assemblies, `stacks` and `app`.
 */
export async function synthesized(packageFolder: string, folder: string): Promise<string> {
  synthesizedApp(packageFolder, folder);
  const modules = join(folder, 'node_modules');
  mkdirSync(modules, { recursive: true });
  for (const name of ['aws-cdk-lib', 'constructs', 'esbuild']) {
    symlinkSync(join(ROOT, 'node_modules', name), join(modules, name), 'junction');
  }
  symlinkSync(packageFolder, join(modules, NAME), 'junction');
  const stacks = join(folder, 'stacks.cjs');
  await build({
    entryPoints: [join(__dirname, 'stacks.ts')],
    outfile: stacks,
    ...{ bundle: true, platform: 'node', logLevel: 'error' },
    external: ['aws-cdk-lib', 'constructs'],
    plugins: [fromPackage],
  });
  synthesize(stacks, join(folder, 'stacks'), { 'aws:cdk:bundling-stacks': [] });
  return folder;
}

/** Synthesizes only the reference app of a package. Returns the folder with its cloud assembly. */
export function synthesizedApp(packageFolder: string, folder: string): string {
  const assembly = join(folder, 'app');
  synthesize(join(packageFolder, 'dist/bin/app.js'), assembly);
  return assembly;
}

/** Imports the package in place of the sources in `lib`. */
const fromPackage: Plugin = {
  name: 'from-package',
  setup({ onLoad, onResolve }) {
    const external = (path: string) => ({ path, external: true });
    // The bundle is in another folder than the example, whose function has its code in the folder of the example.
    onLoad({ filter: /orders-consumer\.ts$/ }, ({ path }) => ({
      contents: readFileSync(path, 'utf8').replaceAll('__dirname', JSON.stringify(dirname(path))),
      loader: 'ts',
    }));
    onResolve({ filter: /^cdk-even-shards/ }, ({ path }) => external(path));
    onResolve({ filter: /\/lib(\/|$)/ }, ({ path, resolveDir }) => {
      const [room, module, ...deeper] = relative(ROOT, join(resolveDir, path)).split(/[\\/]/);
      if (room !== 'lib') return undefined;
      if (deeper.length > 0) throw new Error(`${path} is not an entry point`);
      return external(module === undefined ? NAME : `${NAME}/${module}`);
    });
  },
};

function synthesize(app: string, outdir: string, unbundled = {}): void {
  const context = { ...cdkJson.context, ...unbundled };
  execFileSync(process.execPath, [app], {
    cwd: ROOT,
    env: { ...process.env, CDK_OUTDIR: outdir, CDK_CONTEXT_JSON: JSON.stringify(context), JSII_DEPRECATED: 'quiet' },
    stdio: 'pipe',
  });
}

/** The templates of the assemblies in a folder, by the name of the stack. Nested stacks have templates of their own. */
export function templatesIn(folder: string): Map<string, Template> {
  return new Map(
    ['app', 'stacks'].flatMap((assembly) =>
      readdirSync(join(folder, assembly))
        .filter((file) => file.endsWith('.template.json'))
        .map((file) => [
          basename(file, '.template.json'),
          JSON.parse(readFileSync(join(folder, assembly, file), 'utf8')),
        ]),
    ),
  );
}
