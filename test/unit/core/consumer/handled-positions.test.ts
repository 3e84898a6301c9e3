import { HandledPositions, highestNumbers, isCovered } from '../../../../lib/core/consumer/handled-positions';
import type { SequencePosition } from '../../../../lib/core/consumer/sequence-position';

const MAX_SERIES = 32;

/** Handled positions are stored in two ways: in the memory of a process, and in a parked key. */
const memories = {
  process: () => {
    const positionsOfKeys = new HandledPositions(1);
    return {
      add: (position: SequencePosition) => positionsOfKeys.add('key', [position]),
      has: (position: SequencePosition) => positionsOfKeys.has('key', [position]),
    };
  },
  'parked key': () => {
    let numbers: Record<string, string> = {};
    return {
      add: (position: SequencePosition) => {
        numbers = highestNumbers(numbers, [position]);
      },
      has: (position: SequencePosition) => isCovered(numbers, [position]),
    };
  },
};

describe.each(Object.entries(memories))('the handled positions in a %s', (_, memory) => {
  test(`contain the positions of the ${MAX_SERIES} most recently used series of sequence numbers`, () => {
    const { add, has } = memory();
    const positions = Array.from({ length: MAX_SERIES + 1 }, (__, index) => ({ series: `s${index}`, number: '2' }));
    for (const position of positions.slice(0, -1)) add(position);
    add({ series: 's0', number: '1' });
    expect(positions.filter(has)).toEqual(positions.slice(0, -1));
    add(positions.at(-1)!);
    expect(positions.filter((position) => !has(position))).toEqual([positions[1]]);
  });
});

describe('HandledPositions – the memory limit in bytes', () => {
  const BYTES = 100_000;
  const placesOf = (key: number, producer: number): SequencePosition[] => [
    { series: `producer/${'0'.repeat(38)}/${producer}${'p'.repeat(30)}`, number: `003:${100 + key}` },
    { series: 'shard/shardId-000000000000', number: `056:${'4'.repeat(56)}.0000000000` },
  ];
  const countOfKnown = (positionsOfKeys: HandledPositions, producers: number): number =>
    Array.from({ length: 2_000 }, (_, key) => positionsOfKeys.has(`key ${key}`, placesOf(key, producers - 1))).filter(
      Boolean,
    ).length;

  test.each([
    [1, 150, 300],
    [40, 20, 60],
  ])(
    'add – keys with records of %d producers – keeps the positions of the last %d to %d keys',
    (producers, least, most) => {
      const positionsOfKeys = new HandledPositions(100_000, BYTES);
      for (let key = 0; key < 2_000; key++) {
        for (let producer = 0; producer < producers; producer++)
          positionsOfKeys.add(`key ${key}`, placesOf(key, producer));
      }
      expect(countOfKnown(positionsOfKeys, producers)).toBeGreaterThan(least);
      expect(countOfKnown(positionsOfKeys, producers)).toBeLessThan(most);
      expect(positionsOfKeys.has('key 1999', placesOf(1_999, producers - 1))).toBe(true);
    },
  );
});
