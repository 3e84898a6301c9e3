import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join, relative } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { buildSync } from 'esbuild';
import { findDynoxide, startDynoxide } from '../../../../../bin/local/emulators/dynoxide';

/** A program that listens as dynoxide does, and responds with its process id. */
const STAND_IN = `
const { createServer } = require('node:http');
const port = process.argv[process.argv.indexOf('--port') + 1];
const host = process.argv[process.argv.indexOf('--host') + 1];
createServer((_, response) => response.end(String(process.pid))).listen(Number(port), host);
`;

const folder = mkdtempSync(join(tmpdir(), 'dynoxide-'));
afterAll(() => rmSync(folder, { recursive: true }));

function write(path: string, text: string, mode = 0o644): string {
  const file = join(folder, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  chmodSync(file, mode);
  return file;
}

async function isAlive(pid: number): Promise<boolean> {
  for (let tries = 0; tries < 200; tries++) {
    try {
      process.kill(pid, 0);
    } catch {
      return false;
    }
    await sleep(20);
  }
  return true;
}

describe('findDynoxide', () => {
  const onPath = write('tools/dynoxide', '#!/bin/sh\n', 0o755);
  write('not-executable/dynoxide', '');
  mkdirSync(join(folder, 'a-folder/dynoxide'), { recursive: true });
  const path = ['', 'nowhere', 'not-executable', 'a-folder', 'tools'].map((name) =>
    name === '' ? '' : join(folder, name),
  );

  test('finds an executable file on the PATH', () => {
    expect(findDynoxide(folder, path.join(delimiter))).toEqual([onPath]);
    expect(findDynoxide(folder, path.slice(0, -1).join(delimiter))).toBeUndefined();
    expect(findDynoxide(folder, '')).toBeUndefined();
  });

  test.each([['bin/dynoxide'], [{ dynoxide: 'bin/dynoxide' }]])(
    'prefers the binary in the project to an executable file on the PATH: %j',
    (bin) => {
      const project = mkdtempSync(join(folder, 'project-'));
      const dynoxide = relative(folder, join(project, 'node_modules/dynoxide'));
      write(`${dynoxide}/package.json`, JSON.stringify({ name: 'dynoxide', bin }));
      const script = write(`${dynoxide}/bin/dynoxide`, STAND_IN);
      expect(findDynoxide(project, path.join(delimiter))).toEqual([process.execPath, script]);
    },
  );

  test('ignores a package with a malformed package.json', () => {
    write('broken/node_modules/dynoxide/package.json', '{');
    expect(findDynoxide(join(folder, 'broken'), '')).toBeUndefined();
  });
});

describe('startDynoxide', () => {
  const program = [process.execPath, write('stand-in.js', STAND_IN)] as const;

  test('runs dynoxide on a loopback port until it is stopped', async () => {
    const { endpoint, failure, stop } = await startDynoxide(program);
    expect(endpoint).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    const pid = Number(await (await fetch(endpoint)).text());
    await stop();
    expect(await isAlive(pid)).toBe(false);
    await expect(Promise.race([failure, 'nothing happened'])).resolves.toBe('nothing happened');
  });

  test('rejects with the exit code and the last output of dynoxide if dynoxide ends', async () => {
    const { endpoint, failure } = await startDynoxide(program);
    process.kill(Number(await (await fetch(endpoint)).text()), 'SIGKILL');
    await expect(failure).rejects.toThrow('[EMULATOR_FAILED] dynoxide ended with exit code 1');
    const broken = write('broken.js', 'console.error("no such option"); process.exit(2);');
    await expect(startDynoxide([process.execPath, broken])).rejects.toThrow(
      'dynoxide ended with exit code 2: no such option',
    );
    await expect(startDynoxide([join(folder, 'nowhere')])).rejects.toThrow(/dynoxide ended with exit code 1: .*ENOENT/);
  });

  test('ends dynoxide when the process that started it is killed', async () => {
    const starter = join(folder, 'starter.js');
    buildSync({
      stdin: {
        contents: `import { startDynoxide } from './dynoxide';
          startDynoxide(${JSON.stringify(program)}).then(async ({ endpoint }) => console.log(await (await fetch(endpoint)).text()));`,
        resolveDir: join(__dirname, '../../../../../bin/local/emulators'),
        loader: 'ts',
      },
      outfile: starter,
      bundle: true,
      platform: 'node',
    });
    const child = spawn(process.execPath, [starter], { stdio: ['ignore', 'pipe', 'inherit'] });
    const [pid] = await once(createInterface({ input: child.stdout }), 'line');
    child.kill('SIGKILL');
    expect(await isAlive(Number(pid))).toBe(false);
  });
});
