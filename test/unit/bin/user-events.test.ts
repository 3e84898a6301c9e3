import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { InvalidInputError } from '../../../bin/invalid-input-error';
import type { LocalStack } from '../../../bin/local/run-local';
import { runSample } from '../../../bin/local/sample';
import { STREAM_NAME } from '../../../lib/core/contract/function-environment';

const invoke = jest.fn();

/** The parts of a deployed app that the sample reads before its first write. */
const stack = {
  functions: [{ path: 'App/Producer', environment: { [STREAM_NAME]: 'Events' } }],
  invoke,
} as unknown as LocalStack;

let directory: string;

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'user-events-'));
});

afterAll(() => {
  rmSync(directory, { recursive: true });
});

function run(content: string | Buffer, name = 'events.ndjson') {
  const file = join(directory, name);
  writeFileSync(file, content);
  return runSample(stack, { input: [file], partitionKey: 'account', print: () => {} });
}

const event = (fields: object = {}) => JSON.stringify({ account: 'a', id: '1', kind: 'k', at: '2020', ...fields });

describe('even-shards local --input, before the first write', () => {
  test.each<[string, string, string]>([
    ['a line that is not JSON', `${event()}\nnot json`, 'events.ndjson, line 2: must be a JSON object'],
    ['a line that is not an object', `\n[1]`, 'line 2: must be a JSON object'],
    ['an empty file', '\n\n', 'holds no event'],
    [
      'an event without its partition key',
      event({ account: '' }),
      'event 1: field account must be a non-empty string or a number, got ""',
    ],
    [
      'a partition key that is too long',
      event({ account: 'a'.repeat(300) }),
      'event 1.partitionKey must be a string of 1 to 256 characters',
    ],
  ])('rejects %s', async (_, content, message) => {
    const rejected = run(content);
    await expect(rejected).rejects.toThrow(InvalidInputError);
    await expect(rejected).rejects.toThrow(message);
    expect(invoke).not.toHaveBeenCalled();
  });

  test('rejects a missing file', async () => {
    const missing = runSample(stack, { input: ['/no/such/file'], partitionKey: 'account', print: () => {} });
    await expect(missing).rejects.toThrow('cannot read /no/such/file');
  });

  test('rejects a file whose name ends with .gz if its content is not gzip', async () => {
    await expect(run(event(), 'events.ndjson.gz')).rejects.toThrow(InvalidInputError);
  });

  test('rejects a truncated gzip file', async () => {
    for (let length = 1; length < 60; length++) {
      const cut = gzipSync(`${event()}\n${event()}`).subarray(0, length);
      await expect(run(cut, 'events.ndjson.gz')).rejects.toThrow(InvalidInputError);
    }
  });

  test('accepts lines that end with CR and LF, and a line that arrives in several chunks', async () => {
    const long = event({ account: 7, note: `\u2028${'ä'.repeat(200_000)}` });
    await expect(run(`${event()}\r\n${long}\r\n${event({ account: '' })}`)).rejects.toThrow('event 3: field account');
  });

  test('reads gzipped files', async () => {
    const content = gzipSync(`${event()}\n${event({ account: null })}`);
    await expect(run(content, 'events.ndjson.gz')).rejects.toThrow('event 2: field account');
  });
});
