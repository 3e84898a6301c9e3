import { keys } from '../../../../bin/keys';
import { BalancedKeyAllocator, balancedKey, hashPartitionKey, uniformRanges } from '../../../../lib/core';
import { printed, sampleFolder } from '../../../support/command';

const samples = sampleFolder();
const lines = async (...args: string[]): Promise<string[]> => (await printed(keys, ...args)).split('\n');
const numbers = async (...args: string[]): Promise<number[]> => (await lines(...args)).map(Number);

/** Golden values: the outputs in the article "Kinesis Hash Key Space Partitioning". */
const ARTICLE = {
  leftToRight: [64, 32, 96, 16, 48, 80, 112, 8, 24, 40],
  alternating: [64, 32, 96, 16, 80, 48, 112, 8, 40, 72, 104, 24, 56, 88, 120],
  tree: [
    'Key: 64 (64)',
    'Key: 32 ((32) 64)',
    'Key: 96 ((32) 64 (96))',
    'Key: 16 (((16) 32) 64 (96))',
    'Key: 80 (((16) 32) 64 ((80) 96))',
    'Key: 48 (((16) 32 (48)) 64 ((80) 96))',
    'Key: 112 (((16) 32 (48)) 64 ((80) 96 (112)))',
  ],
  /**
   * The left half is the same in all trees of the article. It contains 48 and 16 from the start, although these keys
   * are allocated later.
   */
  rebuiltTree: [
    ['64', ''],
    ['96', ' (96)'],
    ['80', ' ((80) 96)'],
    ['112', ' ((80) 96 (112))'],
    ['72', ' (((72) 80) 96 (112))'],
    ['48', ' (((72) 80) 96 (112))'],
    ['104', ' (((72) 80) 96 ((104) 112))'],
    ['16', ' (((72) 80) 96 ((104) 112))'],
  ].map(
    ([key, right]) =>
      `Next Key: ${key} ((((((((0) 1) 2) 4) 8 (((9) 10) 12)) 16) 32 (48 (56 (((57) 58) 60)))) 64${right})`,
  ),
};

describe('even-shards keys', () => {
  test('prints 14 keys of the hash key space of Kinesis, one on each line', async () => {
    expect(await lines()).toEqual(Array.from({ length: 14 }, (_, n) => String(balancedKey(n))));
  });

  test('prints the three key orders of "Kinesis Hash Key Space Partitioning"', async () => {
    const args = ['--space', '128', '--count'];
    expect(await numbers(...args, '10', '--order', 'left-to-right')).toEqual(ARTICLE.leftToRight);
    expect(await numbers(...args, '15', '--order', 'alternating')).toEqual(ARTICLE.alternating);
    expect(await numbers(...args, '7', '--order', 'balanced')).toEqual([64, 32, 96, 16, 80, 48, 112]);
  });

  test('prints the tree of "Kinesis Hash Key Space Partitioning" after each key', async () => {
    expect(await lines('--space', '128', '--count', '7', '--tree')).toEqual(ARTICLE.tree);
  });

  test('--allocated continues from given keys, and prints the same trees as "Kinesis Hash Key Space Partitioning"', async () => {
    const file = samples.file('keys.txt', ['0', '32', '9', '', '57']);
    const trees = await lines('--space', '128', '--count', '8', '--allocated', file, '--tree');
    expect(trees).toEqual(ARTICLE.rebuiltTree);
  });

  test('--allocated accepts weights, and --shards prints the shard of each key', async () => {
    const busy = hashPartitionKey('busy');
    const ranges = uniformRanges(4);
    const allocator = new BalancedKeyAllocator({ ranges, allocated: [{ hashKey: busy, weight: 3 }] });
    const file = samples.file('weights.txt', [`${busy} 3`]);
    const found: { hashKey: string; shard: number }[] = JSON.parse(
      await printed(keys, '--shards', '4', '--count', '9', '--allocated', file, '--json'),
    );
    expect(found.map(({ hashKey }) => hashKey)).toEqual(Array.from({ length: 9 }, () => String(allocator.allocate())));
    const owners = [0, 1, 2, 3].map((shard) => found.filter((key) => key.shard === shard).length);
    expect(owners.toSorted()).toEqual([0, 3, 3, 3]);
  });

  test.each([
    [['--count', '0'], '--count must be a whole number from 1 to 1000000, got 0'],
    [['--shards', '9', '--space', '8'], '--shards must be a whole number from 1 to 8, got 9'],
    [['--count', '9', '--space', '8'], '--count must be at most 8 (the number of keys in the space)'],
    [['--space', 'many'], '--space must be a whole number, got "many"'],
    [['--order', 'random'], '--order must be one of left-to-right, alternating, balanced, got "random"'],
    [['--order', 'alternating', '--shards', '2'], 'ignores shards and other keys: leave out --shards'],
    [['--tree', '--shards', '2'], '--tree prints the tree of the whole key space: leave out --shards'],
    [['--allocated', '/nowhere'], 'cannot read allocated keys from /nowhere'],
  ])('rejects %j', async (args, problem) => {
    await expect(keys(args)).rejects.toThrow(problem);
  });

  test.each(['ten', '7 heavy'])('rejects a file with the line %s, and names the line', async (line) => {
    const file = samples.file('wrong.txt', ['1', line]);
    await expect(keys(['--allocated', file])).rejects.toThrow(`${file}, line 2 must be a hash key in decimal digits`);
  });
});
