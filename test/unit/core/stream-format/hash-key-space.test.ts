import { HASH_KEY_SPACE, hashPartitionKey } from '../../../../lib/core';

/** Values from the article "Kinesis Hash Key Space Partitioning". */
const ARTICLE_HASHES: [string, bigint][] = [
  ['1', 261578874264819908609102035485573088411n],
  ['2', 266003691477286198901011725417809479212n],
  ['3', 314755909755515592000481005244904880883n],
  ['4', 223974724102701384270894320508706361900n],
  ['5', 304197110536387568331823853743770900693n],
  ['6', 29871468615243985478486908056489800412n],
  ['7', 190188081314515644627836686569786975555n],
  ['8', 268426020319259673719831598091001013101n],
  ['9', 92737277766069325975379119957797678374n],
  ['10', 281595222973318803755638905082365601824n],
  ['11', 134349327668835346876933282647662472650n],
  ['12', 257926471090385021762358474659294308112n],
  ['13', 262007925198482523730006737380068994873n],
  ['14', 226898901170458510997176709786703486038n],
];

describe('hashPartitionKey', () => {
  test.each(ARTICLE_HASHES)('hashes the partition key %s as Kinesis does', (partitionKey, hashKey) => {
    expect(hashPartitionKey(partitionKey)).toBe(hashKey);
  });

  test('hashes the UTF-8 bytes of the key', () => {
    expect(hashPartitionKey('é')).toBe(BigInt('0x66ddcd97cfdeabb2f6fb8a999b4bc76f'));
  });

  test.each([
    [14, 3, 11],
    [24, 9, 15],
    [49, 23, 26],
    [99, 45, 54],
  ])('distributes the partition keys 1 to %d over two shards as %d and %d', (keys, first, second) => {
    const hashes = Array.from({ length: keys }, (_, index) => hashPartitionKey(String(index + 1)));
    expect(hashes.filter((hash) => hash < HASH_KEY_SPACE / 2n)).toHaveLength(first);
    expect(hashes.filter((hash) => hash >= HASH_KEY_SPACE / 2n)).toHaveLength(second);
  });
});
