import { spawnSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

const CLI = join(__dirname, '../../../dist/bin/even-shards.js');
const folder = mkdtempSync(join(tmpdir(), 'hostile-input-'));
const file = (name: string) => join(folder, name);

/** Runs the command with 512 MB of memory. To hold a line of 1.1 GB, the command would need four times as much. */
function run(args: string[], stdio: Parameters<typeof spawnSync>[2] = {}) {
  const { status, signal, stdout, stderr } = spawnSync(process.execPath, ['--max-old-space-size=512', CLI, ...args], {
    encoding: 'utf8',
    timeout: 120_000,
    ...stdio,
  });
  return { status, signal, stdout: String(stdout), stderr: String(stderr) };
}

const write = (name: string, content: string | Buffer) => {
  writeFileSync(file(name), content);
  return file(name);
};

describe('plan --input', () => {
  test('rejects a gzip file with one line of 1.1 GB', () => {
    // A gzip file is a sequence of members, so the test writes the same member ten times.
    const member = gzipSync(Buffer.alloc(110_000_000, 'x'), { level: 1 });
    write('line.ndjson.gz', Buffer.concat([gzipSync('{"account":"'), ...Array<Buffer>(10).fill(member)]));
    const { status, signal, stderr } = run(['plan', '--input', file('line.ndjson.gz'), '--key', 'account']);
    expect({ status, signal }).toEqual({ status: 2, signal: null });
    expect(stderr).toBe(`even-shards: [INVALID_INPUT] ${file('line.ndjson.gz')}, line 1: must be at most 64 MB long\n`);
  }, 180_000);

  test('reads a file with a byte order mark', () => {
    const lines = '{"account":"a"}\n{"account":"b"}\n';
    for (const [name, content] of [
      ['bom.ndjson', `\uFEFF${lines}`],
      ['bom.ndjson.gz', gzipSync(`\uFEFF${lines}`)],
    ] as const) {
      expect(run(['plan', '--input', write(name, content), '--key', 'account'])).toMatchObject({
        status: 0,
        stderr: '',
      });
    }
  });

  test('rejects an object as a key, and quotes only the beginning of the object', () => {
    const line = JSON.stringify({ account: { deep: 'x'.repeat(1_000_000) } });
    const { status, stderr } = run(['plan', '--input', write('value.ndjson', line), '--key', 'account']);
    expect(status).toBe(2);
    expect(stderr).toContain(
      'line 1: field account must be a non-empty string, a number or a boolean, got {"deep":"xxx',
    );
    expect(stderr.length).toBeLessThan(500);
  });

  test('rejects a line of a million brackets', () => {
    const input = write('deep.ndjson', '['.repeat(1_000_000));
    expect(run(['plan', '--input', input, '--key', 'account'])).toMatchObject({ status: 2 });
  });
});

describe('plan --input without --key', () => {
  test('rejects a record with more than 100 fields', () => {
    const line = JSON.stringify(Object.fromEntries(Array.from({ length: 200_000 }, (_, n) => [`f${n}`, n])));
    const { status, stderr } = run(['plan', '--input', write('wide.ndjson', line)]);
    expect(status).toBe(2);
    expect(stderr).toContain('line 1: has 200000 fields that may be keys, and at most 100 are compared');
  });

  test('ignores fields that are nested too deeply to be keys', () => {
    const line = `{"account":"a","deep":${'['.repeat(100_000)}${']'.repeat(100_000)}}\n{"account":"b"}`;
    const { status, stdout } = run(['plan', '--input', write('nested.ndjson', line)]);
    expect(status).toBe(0);
    expect(stdout).toContain('account');
  });

  test('accepts fields with the names of inherited properties', () => {
    const lines = '{"constructor":"a","__proto__":"x"}\n{"constructor":"b","__proto__":"y"}';
    const { status, stdout } = run(['plan', '--input', write('names.ndjson', lines)]);
    expect(status).toBe(0);
    expect(stdout).toContain('constructor');
    expect(stdout).toContain('__proto__');
  });
});

test.each([
  [['plan', 'item', '--reads-per-second', '1e400'], '--reads-per-second must be a number, got "1e400"'],
  [['reshard', '--from', `${'a'.repeat(100_000)}=1`, '--to', '2'], '--'],
])('%j is rejected with a short message', (args, message) => {
  const { status, stdout, stderr } = run(args as string[]);
  expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
  expect(stderr).toContain(message);
  expect(stderr.length).toBeLessThan(1_000);
});

test('a command reports that standard output is full, and ends with exit code 70', () => {
  const full = openSync('/dev/full', 'w');
  try {
    const { status, stderr } = run(['plan', '--writes-per-second', '1000'], { stdio: ['ignore', full, 'pipe'] });
    expect(status).toBe(70);
    expect(stderr).toMatch(/^even-shards: cannot write to standard output: ENOSPC[^\n]*\n$/);
  } finally {
    closeSync(full);
  }
});
