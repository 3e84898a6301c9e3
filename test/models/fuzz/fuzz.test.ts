import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { Worker } from 'node:worker_threads';
import { CountTable } from './count-table';
import { Fuzz, type FuzzFailure } from './fuzz';
import type { FuzzTarget } from './fuzz-target';

/** What a fuzzing run says of targets that fail, and of those that hang. */

async function played(targets: readonly FuzzTarget[], seeds: readonly number[]): Promise<FuzzFailure[]> {
  const failures: FuzzFailure[] = [];
  const fuzz = await Fuzz.start({ targets, mostSeconds: 1, onFailure: (failure) => failures.push(failure) });
  try {
    await fuzz.play(seeds);
  } finally {
    await fuzz.stop();
  }
  return failures;
}

/** A target whose cases note what they have drawn. */
function drawingTarget(name: string): { target: FuzzTarget; drawn: Record<number, number[]> } {
  const drawn: Record<number, number[]> = {};
  const target: FuzzTarget = {
    name,
    play: async (fuzzCase) => {
      const others = fuzzCase.diceFor('others');
      drawn[fuzzCase.seed] = [fuzzCase.dice.below(1e9), others.below(1e9)];
      await new Promise((resolve) => setTimeout(resolve, fuzzCase.dice.below(5)));
    },
  };
  return { target, drawn };
}

test('a case draws the same alone as among others, and something else than every other', async () => {
  const [a, b, alone] = ['a', 'b', 'b'].map(drawingTarget);
  await played([a!.target, b!.target], [1, 2, 3]);
  await played([alone!.target], [2]);
  expect(alone!.drawn[2]).toEqual(b!.drawn[2]);
  const all = [a!, b!].flatMap(({ drawn }) => Object.values(drawn).flat());
  expect(new Set(all).size).toBe(2 * 3 * 2);
});

test('a failure is told at once, with the command that plays its case alone', async () => {
  const told: string[] = [];
  const target: FuzzTarget = {
    name: 'some input',
    play: async ({ seed }) => {
      if (seed === 7) throw new Error('out of order');
      told.push(`played ${seed}`);
    },
  };
  const fuzz = await Fuzz.start({ targets: [target], onFailure: ({ message }) => told.push(message) });
  await fuzz.play([6, 7, 8]);
  await fuzz.stop();
  expect(told).toContain(
    "seed 7, some input: out of order\nonce more: npm run soak fuzz -- --only 'some input' --seed 7",
  );
  expect(fuzz.cases).toEqual({ 'some input': 3 });
});

test('a case that hangs fails with what it was doing, what it has started ends, and the others go on', async () => {
  const ended: string[] = [];
  const hangs: FuzzTarget = {
    name: 'hangs',
    play: async (fuzzCase) => {
      if (fuzzCase.seed === 0) for (const name of ['server', 'client']) fuzzCase.with(name, () => ended.push(name));
      fuzzCase.begins('the second request');
      await new Promise(() => {});
    },
  };
  const { target, drawn } = drawingTarget('goes on');
  const failures = await played([hangs, target], [0, 1]);
  expect(failures.map(({ message }) => message.split('\n')[0])).toEqual([
    'seed 0, hangs: has not ended within 1 s: the second request',
    'seed 1, hangs: has not ended within 1 s: the second request',
  ]);
  expect(ended).toEqual(['client', 'server']);
  expect(Object.keys(drawn)).toEqual(['0', '1']);
});

test('what fails beside a case, or does not end, is a failure of that case, and the others go on', async () => {
  const target: FuzzTarget = {
    name: 'beside',
    play: async (fuzzCase) => {
      if (fuzzCase.seed === 0) fuzzCase.fails(new Error('the stub does not know the request'));
      if (fuzzCase.seed === 1) fuzzCase.with('server', () => Promise.reject(new Error('still open')));
    },
  };
  const failures = await played([target], [0, 1, 2]);
  expect(failures.map(({ message }) => message.split('\n')[0])).toEqual([
    'seed 0, beside: beside the case: Error: the stub does not know the request',
    'seed 1, beside: beside the case: Error: still open',
  ]);
});

test('a loop that stops every timer ends the process, which names the cases that were under way', async () => {
  const program = `
    const { Worker } = require('node:worker_threads');
    const workerData = { beats: new Int32Array(new SharedArrayBuffer(4)), mostSeconds: 1 };
    const thread = new Worker(process.argv[1], { workerData });
    for (const message of [{ begun: 'the first' }, { begun: 'the second' }, { ended: 'the first' }]) thread.postMessage(message);
    thread.once('online', () => setTimeout(() => { for (;;); }, 300));
  `;
  const child = spawn(process.execPath, ['-e', program, join(__dirname, 'watchdog-thread.mjs')]);
  const [[, signal], written] = await Promise.all([once(child, 'exit'), text(child.stderr)]);
  expect(signal).toBe('SIGKILL');
  expect(written).toBe('nothing has moved for 1 s; one of these does not end:\nthe second\n');
});

test.each([
  ['waits for longer than its time has none left', 'await new Promise((resolve) => setTimeout(resolve, 600))', -1],
  ['was not let go on by the machine has time left', 'for (const end = Date.now() + 600; Date.now() < end; );', 1],
])('an invocation that %s', async (_, work, sign) => {
  const bundle = join(mkdtempSync(join(tmpdir(), 'fuzz-')), 'index.js');
  writeFileSync(bundle, `exports.handler = async () => { ${work} };`);
  const worker = new Worker(join(__dirname, '../../support/lambda-runtime.mjs'), {
    workerData: { bundle, environment: {} },
  });
  try {
    await once(worker, 'message');
    worker.postMessage({ payload: '{}', timeoutMs: 300 });
    const [{ leftMs }] = await once(worker, 'message');
    expect(Math.sign(leftMs)).toBe(sign);
  } finally {
    await worker.terminate();
    rmSync(dirname(bundle), { recursive: true });
  }
});

test('the table of counts answers whatever an item holds in place of its key', () => {
  const table = new CountTable();
  const damaged = { index: { S: 'i' }, value: { S: { toString: 'x', valueOf: 1 } } };
  table.items.push(damaged as never, { index: { S: 'i' }, value: { S: 'b' } });
  const query = { ExpressionAttributeValues: { ':index': { S: 'i' }, ':from': { S: 'a' } } };
  expect(table.query(query).Items).toEqual([{ index: { S: 'i' }, value: { S: 'b' } }]);
});

test('the command of a failure plays one case of one target', async () => {
  const soak = (...args: string[]) =>
    spawn(process.execPath, ['scripts/run-bundled.mjs', 'test/models/soak', 'fuzz', ...args], {
      cwd: join(__dirname, '../../..'),
    });
  const one = soak('--only', 'saved histories', '--seed', '1234');
  const none = soak('--only', 'no such target');
  const [told, [code], refused] = await Promise.all([text(one.stdout), once(one, 'exit'), text(none.stderr)]);
  expect(told.split('\n').map((line) => line.trim())).toEqual([
    'target           cases',
    '---------------  -----',
    'saved histories      1',
    '0 failures',
    '',
  ]);
  expect(code).toBe(0);
  expect(refused).toContain('no target has the name no such target');
});
