import { isPast, PassedPlaces, raised } from '../../../../lib/core/consumer/passed-places';
import type { Place } from '../../../../lib/core/consumer/place';

const MOST_SERIES = 32;

/** What a process remembers of a key, and what is kept with a parked key. */
const memories = {
  process: () => {
    const passed = new PassedPlaces(1);
    return { add: (place: Place) => passed.add('key', [place]), has: (place: Place) => passed.has('key', [place]) };
  },
  'parked key': () => {
    let past: Record<string, string> = {};
    return {
      add: (place: Place) => {
        past = raised(past, [place]);
      },
      has: (place: Place) => isPast(past, [place]),
    };
  },
};

describe.each(Object.entries(memories))('a %s', (_, memory) => {
  test('remembers the highest number of each series, whichever came last', () => {
    const { add, has } = memory();
    for (const [series, number] of ['a2', 'b1', 'a1', 'b3', 'b2', 'b2']) add({ series: series!, number: number! });
    const passed = ['a1', 'a2', 'a3', 'b3', 'b4', 'c1'].map(([series, number]) =>
      has({ series: series!, number: number! }),
    );
    expect(passed).toEqual([true, true, false, true, false, false]);
  });

  test(`remembers the ${MOST_SERIES} series that were written last`, () => {
    const { add, has } = memory();
    const places = Array.from({ length: MOST_SERIES + 1 }, (__, index) => ({ series: `s${index}`, number: '2' }));
    for (const place of places.slice(0, -1)) add(place);
    add({ series: 's0', number: '1' });
    expect(places.filter(has)).toEqual(places.slice(0, -1));
    add(places.at(-1)!);
    expect(places.filter((place) => !has(place))).toEqual([places[1]]);
  });
});
