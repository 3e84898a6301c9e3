import { spawnSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const CLI = join(__dirname, '../../dist/bin/even-shards.js');

/** Ten minutes of records of twenty accounts. A quarter of the records belong to the first account. */
const RECORDS = Array.from({ length: 2_400 }, (_, number) => ({
  account: `account-${number % 4 === 0 ? 0 : number % 20}`,
  at: new Date(Date.UTC(2026, 0, 1) + number * 250).toISOString(),
}));
const text = RECORDS.map((record) => JSON.stringify(record)).join('\n');

describe('--input -', () => {
  let folder: string;
  let file: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'standard-input-'));
    file = join(folder, 'records.ndjson');
    writeFileSync(file, text);
  });

  const run = (args: readonly string[], input = '') => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [CLI, ...args], { input, encoding: 'utf8' });
    return { status, printed: stdout + stderr };
  };

  test.each([
    ['plan', ['--key', 'account', '--records-per-second', '3000']],
    ['simulate', ['--key', 'account', '--shards', '4']],
  ])('%s prints the same output for standard input as for a file', (command, options) => {
    const fromFile = run([command, '--input', file, ...options]);
    expect(fromFile).toMatchObject({ status: 0, printed: expect.stringContaining('shards') });
    expect(run([command, '--input', '-', ...options], text)).toEqual({
      ...fromFile,
      printed: fromFile.printed.replaceAll(file, '-'),
    });
  });

  test('plan rejects an empty standard input', () => {
    const { status, printed } = run(['plan', '--input', '-', '--key', 'account']);
    expect(status).not.toBe(0);
    expect(printed).toContain('holds no');
  });
});
