// Bundles the functions and the local run, and synthesizes the reference app, for npm start. It does not compile the
// library for other languages with jsii, which takes longer than all the other steps. It prints a line when a step begins and a line when the step
// has ended. On a terminal, it also shows the elapsed seconds of the running step. It prints the output of a tool only
// if the tool fails.
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';

const INSTALLED = 'node_modules/.package-lock.json';
const APP = 'dist/scripts/story/app.js';
const BUNDLE_APP = `npx esbuild bin/app.ts --bundle --packages=external --platform=node --target=node20 --outfile=${APP} --log-level=warning`;
const terminal = process.stderr.isTTY;
const running = new Map();

checkInstallation();
const counter = terminal ? setInterval(showRunning, 250) : undefined;
try {
  await import('./sql-module.mjs');
  await import('./remove-stale.mjs');
  await step(
    'bundle the library, the functions and the local run',
    `npm run --silent build:esm && npm run --silent build:lambda && npm run --silent build:bin && ${BUNDLE_APP}`,
  );
  await step('synthesize the reference app', `npx cdk synth --quiet --build "node --version" --app "node ${APP}"`);
} catch (error) {
  console.error(`\n${error.message}`);
  process.exitCode = 1;
} finally {
  clearInterval(counter);
}

/** Checks the installed packages first: a missing or old package would cause confusing errors later. */
function checkInstallation() {
  const packagesOf = (file) => JSON.parse(readFileSync(file, 'utf8')).packages;
  const installed = existsSync(INSTALLED) ? packagesOf(INSTALLED) : {};
  const stale = Object.entries(packagesOf('package-lock.json')).find(
    ([path, { version, optional }]) => path !== '' && !optional && installed[path]?.version !== version,
  );
  if (stale === undefined) return;
  const [path, { version }] = stale;
  console.error(
    `run npm ci first: ${path} is ${installed[path]?.version ?? 'not there'}, and package-lock.json has ${version}`,
  );
  process.exit(1);
}

async function step(name, command) {
  const began = performance.now();
  running.set(name, began);
  if (!terminal) console.error(`${name} ...`);
  const output = [];
  const child = spawn(command, { shell: true, stdio: ['ignore', 'pipe', 'pipe'] });
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => output.push(chunk));
  const status = await new Promise((resolve) => child.on('close', resolve));
  running.delete(name);
  if (status !== 0) throw new Error(`${Buffer.concat(output)}\n${name}: ${command} ended with ${status}`);
  tell(`${name}: ${((performance.now() - began) / 1000).toFixed(1)} s`);
}

function tell(line) {
  console.error(terminal ? `\r\x1b[K${line}` : line);
}

function showRunning() {
  const names = [...running].map(([name, began]) => `${name}: ${Math.floor((performance.now() - began) / 1000)} s`);
  process.stderr.write(`\r\x1b[K${names.join(', ')}`.slice(0, process.stderr.columns ?? 80));
}
