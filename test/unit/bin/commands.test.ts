import { exitCodeOf, runCommand } from '../../../bin/commands';
import type { EvenShardsError } from '../../../lib/core/kernel/errors';
import { version } from '../../../package.json';
import { printed } from '../../support/command';

test.each([
  [['--help'], 'usage: even-shards <command>'],
  [['local', '--help'], 'usage: even-shards local'],
  [['plan', '--help'], 'usage: even-shards plan'],
  [['simulate', '--help'], 'usage: even-shards simulate'],
  [['--version'], version],
])('even-shards %j prints its usage or version', async (args, expected) => {
  expect(await printed(runCommand, ...args)).toContain(expected);
});

test.each([
  [[], 'no command given'],
  [['deploy'], 'unknown command deploy'],
  [['--fast'], 'unknown option --fast'],
  [['local', '--fast'], "unknown option '--fast'"],
  [['local', 'now'], "unexpected argument 'now'"],
  [['plan'], 'give --input, --records-per-second or --writes-per-second'],
  [['plan', '--input', '/no/such/file', '--key', 'a'], 'cannot read /no/such/file: ENOENT'],
  [['simulate', '--shards', '0'], '--shards must be a whole number from 1 to 5000, got 0'],
  [['simulate', '--input', '/no/such/file', '--key', 'a'], 'cannot read /no/such/file: ENOENT'],
  [['local', '--port', '70000'], '--port must be an integer from 0 to 65535, got "70000"'],
  [
    ['local', '--serve', '--input', 'a', '--partition-key', 'b'],
    '--input cannot be combined with --serve, which runs no sample',
  ],
  [['local', '--partition-key', 'a'], '--partition-key needs --input'],
  [['local', '--input', 'a'], '--input needs --partition-key'],
  [['local', '--limits=-1'], '--limits must be a number above 0, got "-1"'],
  [['local', '--serve', '--limits', '1e400'], '--limits must be a number above 0, got "1e400"'],
  [['local', '--limits', '1', '--limits', '2'], '--limits is given twice'],
  [['local', '--kinesis-endpoint', 'https://localhost'], '--kinesis-endpoint must be an http URL on the loopback'],
  [
    ['local', '--dynamodb-endpoint', 'http://example.com:8000'],
    '--dynamodb-endpoint must be an http URL on the loopback',
  ],
])('even-shards %j is rejected with exit code 2 before the command starts', async (args, problem) => {
  const refusal: EvenShardsError = await runCommand(args).catch((error) => error);
  expect(exitCodeOf(refusal)).toBe(2);
  expect(refusal.problem.slice(0, problem.length)).toBe(problem);
});
