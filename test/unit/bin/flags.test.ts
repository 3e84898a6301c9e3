import { flagError } from '../../../bin/flags';
import { InvalidArgumentError } from '../../../lib/core/kernel/errors';

const messageOf = (field: string, value: unknown) =>
  (
    flagError('even-shards query', new InvalidArgumentError(field, value, 'a number'), {
      projection: '--project',
    }) as Error
  ).message;

test.each([
  ['limit', 0, '[USAGE] --limit must be a number, got 0: see `even-shards query --help`'],
  ['itemKb', 'x', '[USAGE] --item-kb must be a number, got "x": see `even-shards query --help`'],
  ['projection', '', '[USAGE] --project must be a number, got "": see `even-shards query --help`'],
  ['value', undefined, '[USAGE] --value is missing: it must be a number: see `even-shards query --help`'],
  ['shares.a', 1, '[USAGE] shares.a must be a number, got 1: see `even-shards query --help`'],
])('an error about the field %s names its flag', (field, value, message) => {
  expect(messageOf(field, value)).toBe(message);
});

test('any other error stays as it is', () => {
  const error = new Error('lost');
  expect(flagError('even-shards query', error)).toBe(error);
});
