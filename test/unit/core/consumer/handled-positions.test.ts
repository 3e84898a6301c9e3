import { HandledPositions, highestNumbers, isCovered } from '../../../../lib/core/consumer/handled-positions';
import type { SequencePosition } from '../../../../lib/core/consumer/sequence-position';

const MOST_SERIES = 32;

/** What a process remembers of a key, and what is kept with a parked key. */
const memories = {
  process: () => {
    const passed = new HandledPositions(1);
    return {
      add: (position: SequencePosition) => passed.add('key', [position]),
      has: (position: SequencePosition) => passed.has('key', [position]),
    };
  },
  'parked key': () => {
    let past: Record<string, string> = {};
    return {
      add: (position: SequencePosition) => {
        past = highestNumbers(past, [position]);
      },
      has: (position: SequencePosition) => isCovered(past, [position]),
    };
  },
};

describe.each(Object.entries(memories))('a %s', (_, memory) => {
  test(`remembers the ${MOST_SERIES} series that were written last`, () => {
    const { add, has } = memory();
    const positions = Array.from({ length: MOST_SERIES + 1 }, (__, index) => ({ series: `s${index}`, number: '2' }));
    for (const position of positions.slice(0, -1)) add(position);
    add({ series: 's0', number: '1' });
    expect(positions.filter(has)).toEqual(positions.slice(0, -1));
    add(positions.at(-1)!);
    expect(positions.filter((position) => !has(position))).toEqual([positions[1]]);
  });
});

describe('the memory of a process is bounded in bytes', () => {
  const BYTES = 100_000;
  const placesOf = (key: number, producer: number): SequencePosition[] => [
    { series: `producer/${'0'.repeat(38)}/${producer}${'p'.repeat(30)}`, number: `003:${100 + key}` },
    { series: 'shard/shardId-000000000000', number: `056:${'4'.repeat(56)}.0000000000` },
  ];
  const known = (passed: HandledPositions, producers: number): number =>
    Array.from({ length: 2_000 }, (_, key) => passed.has(`key ${key}`, placesOf(key, producers - 1))).filter(Boolean)
      .length;

  test.each([
    [1, 150, 300],
    [40, 20, 60],
  ])('add – keys that %d producers write – remembers the last %d to %d keys', (producers, least, most) => {
    const passed = new HandledPositions(100_000, BYTES);
    for (let key = 0; key < 2_000; key++) {
      for (let producer = 0; producer < producers; producer++) passed.add(`key ${key}`, placesOf(key, producer));
    }
    expect(known(passed, producers)).toBeGreaterThan(least);
    expect(known(passed, producers)).toBeLessThan(most);
    expect(passed.has('key 1999', placesOf(1_999, producers - 1))).toBe(true);
  });
});
