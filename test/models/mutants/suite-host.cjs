// A process that loads suites once with the switched core, and then runs their tests for one mutant after another. jest would
// load them again for each mutant, which takes a hundred times longer than the test.
const { existsSync, readFileSync, writeFileSync } = require('node:fs');
const Module = require('node:module');
const { dirname, join, relative } = require('node:path');
const { afterAll, afterEach, beforeAll, beforeEach, describe, getState, resetState, test } = require('jest-circus');
const { ModernFakeTimers } = require('@jest/fake-timers');
const { transformSync } = require('esbuild');
const { expect } = require('expect');
const { ModuleMocker } = require('jest-mock');

const ROOT = process.cwd();
const { sources, moduleNames } = JSON.parse(readFileSync(process.env.MUTANTS_PLAN, 'utf8'));
const { setTimeout, clearTimeout, setImmediate } = globalThis;
const LONGEST_MS = 60_000;

/** The number of the active mutant in code that runs when a file is loaded, or -1. */
const constant = Number(process.env.MUTANT);
let mutant = constant;
let reached = new Set();
/** Errors outside the promise of a test, and unhandled rejections. As with jest, a test can still handle a rejection later. */
const strays = new Map();
const allTests = [];
const hooksThatRan = new Set();

const mocker = new ModuleMocker(globalThis);
const timers = new ModernFakeTimers({ global: globalThis, config: { fakeTimers: {} } });
const jest = { isolateModules };
for (const tool of [mocker, timers])
  for (const name of Object.getOwnPropertyNames(Object.getPrototypeOf(tool)))
    jest[name] = (...args) => tool[name](...args);
Object.assign(globalThis, {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  it: test,
  jest,
  test,
  isMutant,
});

Module._extensions['.ts'] = (module, file) => {
  const place = relative(ROOT, file);
  const compiled = join(dirname(process.env.MUTANTS_PLAN), encodeURIComponent(place));
  if (!existsSync(compiled)) {
    const text = sources[place] ?? readFileSync(file, 'utf8');
    writeFileSync(compiled, transformSync(text, { loader: 'ts', format: 'cjs', target: 'es2023' }).code);
  }
  module._compile(readFileSync(compiled, 'utf8'), file);
};
const resolve = Module._resolveFilename;
Module._resolveFilename = (name, ...rest) => {
  const [pattern, place] = moduleNames.find(([each]) => new RegExp(each).test(name)) ?? [];
  return resolve(pattern ? name.replace(new RegExp(pattern), place.replace('<rootDir>', ROOT)) : name, ...rest);
};
process.on('uncaughtException', (error) => strays.set(error, error));
process.on('unhandledRejection', (error, promise) => strays.set(promise, error));
process.on('rejectionHandled', (promise) => strays.delete(promise));
process.on('message', async (message) => process.send(await answerTo(message)));
// The parent process has ended.
process.on('disconnect', () => process.exit());

function isMutant(number) {
  reached.add(number);
  return number === mutant;
}

async function answerTo({ suites, number, tests }) {
  if (suites) return load(suites);
  if (tests === undefined) return { runs: await runAll() };
  mutant = number;
  return verdictOn(tests);
}

/** Loads the suites. Returns the mutants that the loading reaches, or the error of the loading. */
function load(suites) {
  for (const suite of suites) {
    resetState();
    expect.setState({ testPath: join(ROOT, suite) });
    try {
      require(join(ROOT, suite));
    } catch (error) {
      return { outcome: 'caught', by: `${suite}, which does not load: ${error.message}` };
    }
    collect(suite, getState().rootDescribeBlock, []);
  }
  return { reached: [...reached] };
}

function collect(suite, block, above) {
  const blocks = [...above, block];
  for (const child of block.children) {
    if (child.type === 'describeBlock') collect(suite, child, blocks);
    else if (child.mode !== 'skip' && child.mode !== 'todo') {
      const names = [...blocks.slice(1), child].map(({ name }) => name);
      allTests.push({ name: [suite, ...names].join(' › '), run: child.fn, blocks });
    }
  }
}

/** Runs each test without a mutant. Returns its time and the mutants that it reaches, or its failure. */
async function runAll() {
  const runs = [];
  for (const each of allTests) {
    await prepare(each);
    reached = new Set();
    const start = performance.now();
    const failure = await failureOf(each, LONGEST_MS);
    runs.push({ name: each.name, ms: performance.now() - start, reached: [...reached], failure: failure?.message });
  }
  return runs;
}

/** The first test that fails with the mutant, and its failure. */
async function verdictOn(tests) {
  for (const { index, limitMs } of tests) {
    const test = allTests[index];
    process.send({ limitMs: LONGEST_MS });
    const unprepared = await prepare(test);
    process.send({ limitMs });
    const failure = unprepared ?? (await failureOf(test, limitMs));
    if (failure === undefined) continue;
    const by = `${test.name}: ${failure.message.split('\n')[0]}`;
    if (failure.isLate) return { outcome: 'hangs', by };
    mutant = constant;
    const fails = constant === -1 && (await failureOf(test, limitMs)) !== undefined;
    return { outcome: fails ? 'undecided' : 'caught', by };
  }
  return { outcome: 'survived' };
}

async function failureOf(test, limitMs) {
  // At the end of this turn Node.js reports rejections of the previous test.
  await new Promise(setImmediate);
  strays.clear();
  let timer;
  const late = new Promise((end) => {
    timer = setTimeout(
      () => end(Object.assign(new Error('the test did not end within its time limit'), { isLate: true })),
      limitMs,
    );
  });
  const failure = await Promise.race([wholeTest(test).then(firstStray, errorOf), late]);
  clearTimeout(timer);
  return failure;
}

/** Node.js reports rejections and their handling at the end of a turn. */
async function firstStray() {
  await new Promise(setImmediate);
  return [...strays.values()].map(errorOf)[0];
}

async function wholeTest({ run, blocks }) {
  try {
    for (const { fn } of hooksOf(blocks, 'beforeEach')) await fn();
    await run();
  } finally {
    for (const { fn } of hooksOf(blocks, 'afterEach').reverse()) await fn();
  }
}

/** Runs the hooks before all tests of a block once. Returns their failure. */
async function prepare({ blocks }) {
  for (const hook of hooksOf(blocks, 'beforeAll').filter((each) => !hooksThatRan.has(each))) {
    hooksThatRan.add(hook);
    try {
      await hook.fn();
    } catch (error) {
      return errorOf(error);
    }
  }
}

function hooksOf(blocks, type) {
  return blocks.flatMap(({ hooks }) => hooks.filter((hook) => hook.type === type));
}

function errorOf(thrown) {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}

function isolateModules(load) {
  const own = ([file]) => file.startsWith(ROOT) && !file.includes('/node_modules/');
  const kept = Object.entries(require.cache).filter(own);
  for (const [file] of kept) delete require.cache[file];
  load();
  for (const [file, module] of kept) require.cache[file] = module;
}
