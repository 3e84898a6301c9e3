import { readFileSync } from 'node:fs';
import { shards } from '../../bin/shards';
import { waitUntilActive } from '../support/active-stream';
import { printed } from '../support/command';
import { kinesisForTests } from '../support/kinesis-local';

/** Runs the command on the Kinesis emulator of `even-shards local`. */
describe('even-shards shards', () => {
  const HALF = String(2n ** 127n);
  const { kinesis, createStream } = kinesisForTests();

  beforeAll(async () => {
    await createStream('test-1', 1);
    await kinesis.splitShard({
      StreamName: 'test-1',
      ShardToSplit: 'shardId-000000000000',
      NewStartingHashKey: HALF,
    });
    await waitUntilActive(kinesis, 'test-1');
    await createStream('uneven', 2);
    const { Shards = [] } = await kinesis.listShards({ StreamName: 'uneven' });
    await kinesis.splitShard({ StreamName: 'uneven', ShardToSplit: Shards[0]!.ShardId!, NewStartingHashKey: '1000' });
    await waitUntilActive(kinesis, 'uneven');
  }, 60_000);
  afterEach(() => {
    process.exitCode = undefined;
  });

  const output = (...args: string[]): Promise<string> => printed((all) => shards(all, () => kinesis), ...args);

  test('prints the split of "Kinesis Hash Key Space Partitioning" as the hash key guide shows it', async () => {
    const printed = await output('test-1', '--closed');
    const { Shards = [] } = await kinesis.listShards({ StreamName: 'test-1' });
    const numbers = Shards.map(({ SequenceNumberRange: range }) => [
      range!.StartingSequenceNumber!,
      range!.EndingSequenceNumber ?? 'open',
    ]);
    expect(numbers.map(([, end]) => end === 'open')).toEqual([false, true, true]);
    const rows = numbers.map(([start, end], index) => `  shardId-00000000000${index}  ${start}  ${end}`);
    expect(printed).toContain(rows.join('\n'));
    // The guide shows other sequence numbers, because they contain the time.
    const anyNumber = (text: string) => text.replace(/\b49\d{54}\b/g, '49...');
    const transcript = `$ npx even-shards shards test-1 --closed\n\n${printed}\n\`\`\``;
    expect(anyNumber(readFileSync('docs/guides/hash-keys.md', 'utf8'))).toContain(anyNumber(transcript));
    expect(process.exitCode).toBeUndefined();
  });

  test('does not list closed shards, but prints the number of closed shards', async () => {
    const lines = await output('test-1');
    expect(lines).toContain('test-1: 2 open shards, even: the widest has 1.00 times the hash keys of the mean');
    expect(lines).toContain('1 closed shard still holds records: --closed lists them, too');
    expect(lines).not.toContain('shardId-000000000000');
  });

  test('--json prints hash keys as text', async () => {
    const { skew, shards: listed } = JSON.parse(await output('test-1', '--json'));
    expect(skew).toBe(1);
    expect(listed[0]).toEqual({
      shardId: 'shardId-000000000001',
      startingHashKey: '0',
      endingHashKey: String(2n ** 127n - 1n),
      isOpen: true,
      parents: ['shardId-000000000000'],
      startingSequenceNumber: expect.stringMatching(/^49\d{54}$/),
    });
  });

  test('ends with exit code 1 if the shards are uneven, and prints their skew', async () => {
    expect(await output('uneven')).toContain('uneven: 3 open shards, UNEVEN: the widest has 1.50 times');
    expect(process.exitCode).toBe(1);
  });

  test('rejects an unknown stream and a missing stream name', async () => {
    await expect(output('unknown')).rejects.toThrow(/unknown/);
    await expect(output()).rejects.toThrow('give one stream');
  });

  test('calls only ListShards, and its help names the permission', async () => {
    const calls: string[] = [];
    const client = new Proxy(kinesis, {
      get: (target, name, receiver) => {
        if (typeof name === 'string' && typeof Reflect.get(target, name, receiver) === 'function') calls.push(name);
        return Reflect.get(target, name, receiver);
      },
    });
    await printed((all) => shards(all, () => client), 'test-1');
    expect(new Set(calls.filter((name) => name !== 'send'))).toEqual(new Set(['listShards']));
    expect(await output('--help')).toContain('"Action": "kinesis:ListShards"');
  });
});
