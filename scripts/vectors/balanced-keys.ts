import { balancedKey } from '../../lib/core/registry';
import { HASH_KEY_SPACE } from '../../lib/core/stream-format/hash-key-space';

/**
 * The arguments of `balancedKey` for the vectors of the hash key space of Kinesis: the first keys, and some much later
 * keys. For small spaces, the vectors contain all keys.
 */
const OF_THE_SPACE = [0, 1, 2, 3, 4, 5, 6, 7, 13, 14, 63, 64, 99, 1_000, 123_456, 2 ** 32, Number.MAX_SAFE_INTEGER];
const SMALL_SPACES = [1n, 2n, 7n, 14n, 33n];

export function balancedKeyVectors() {
  const keys = (space: bigint, numbers: readonly number[]) => ({
    space: String(space),
    keys: Object.fromEntries(numbers.map((n) => [n, String(balancedKey(n, space))])),
  });
  return {
    description:
      'balancedKey(n, space): the nth explicit hash key, 0-based, of the balanced order. Keys and spaces are decimal digits; the hash key space of Kinesis is 2^128. The space of 128 is that of the article "Kinesis Hash Key Space Partitioning".',
    vectors: [
      keys(HASH_KEY_SPACE, OF_THE_SPACE),
      keys(
        128n,
        Array.from({ length: 32 }, (_, n) => n),
      ),
      ...SMALL_SPACES.map((space) =>
        keys(
          space,
          Array.from({ length: Number(space) }, (_, n) => n),
        ),
      ),
      keys(2n ** 64n + 1n, [0, 1, 2, 3, 100, 12_345]),
    ],
  };
}
