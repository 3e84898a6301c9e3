// Runs a TypeScript program of a folder, bundled as it would ship: node run-bundled.mjs <folder> <name> [arguments].
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { build } from 'esbuild';

const [folder, name, ...programArguments] = process.argv.slice(2);
const source = `${folder}/${name}.ts`;
if (!existsSync(source)) {
  const names = readdirSync(folder).flatMap((file) => file.match(/^(.+)\.ts$/)?.[1] ?? []);
  console.error(`name one of: ${names.join(', ')}`);
  process.exit(2);
}

const program = `dist/${folder}/${name}.js`;
await build({
  entryPoints: [source],
  outfile: program,
  bundle: true,
  packages: 'external',
  platform: 'node',
  target: 'node20',
  sourcemap: 'inline',
});
const run = spawnSync(process.execPath, ['--expose-gc', '--enable-source-maps', program, ...programArguments], {
  stdio: 'inherit',
});
process.exit(run.status ?? 1);
