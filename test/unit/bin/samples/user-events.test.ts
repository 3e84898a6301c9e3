import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { InvalidInputError } from '../../../../bin/invalid-input-error';
import type { LocalStack } from '../../../../bin/local/run-local';
import { runSample } from '../../../../bin/local/sample';
import { STREAM_NAME } from '../../../../lib/core/contract/function-environment';

const invoke = jest.fn();

/** The parts of a deployed app that the sample reads before its first write. */
const stack = {
  functions: [{ path: 'App/Producer', environment: { [STREAM_NAME]: 'Events' } }],
  invoke,
} as unknown as LocalStack;

function run(content: string) {
  const file = join(mkdtempSync(join(tmpdir(), 'user-events-')), 'events.ndjson');
  writeFileSync(file, content);
  return runSample(stack, { input: [file], partitionKey: 'account', print: () => {} });
}

const event = (fields: object = {}) => JSON.stringify({ account: 'a', id: '1', kind: 'k', at: '2020', ...fields });

describe('even-shards local --input, before the first write', () => {
  test.each<[string, string, string]>([
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
});
