// Bundles a TypeScript program like the published command, and runs the bundle: node run-bundled.mjs <folder> <name>
// [arguments].
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, renameSync } from 'node:fs';
import { build } from 'esbuild';
import './sql-module.mjs';

const [folder, name, ...programArguments] = process.argv.slice(2);
const source = `${folder}/${name}.ts`;
if (!existsSync(source)) {
  const names = readdirSync(folder).flatMap((file) => file.match(/^(.+)\.ts$/)?.[1] ?? []);
  console.error(`name one of: ${names.join(', ')}`);
  process.exit(2);
}

const program = `dist/${folder}/${name}.js`;
// Another run of the same program may read the file at this moment, so the script replaces the file in one step.
const written = `${program}.${process.pid}`;
await build({
  entryPoints: [source],
  outfile: written,
  bundle: true,
  packages: 'external',
  platform: 'node',
  target: 'node20',
  sourcemap: 'inline',
});
renameSync(written, program);
const run = spawnSync(process.execPath, ['--expose-gc', '--enable-source-maps', program, ...programArguments], {
  stdio: 'inherit',
  // Switches off a warning about the Node.js versions that later versions of the SDK require.
  env: { AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true', ...process.env },
});
process.exit(run.status ?? 1);
