import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { RecentMap } from '../../../../lib/core/kernel/recent-map';

test('RecentMap – any operations – contains the same entries as a list in order of age', () => {
  const step = fc.record({ key: fc.nat({ max: 8 }), value: fc.nat(), deletes: fc.boolean() });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 6 }), fc.array(step, { maxLength: 80 }), (most, steps) => {
      const map = new RecentMap<number, number>(most);
      let byAge: [number, number][] = [];
      for (const { key, value, deletes } of steps) {
        byAge = byAge.filter(([other]) => other !== key);
        if (deletes) map.delete(key);
        else {
          map.set(key, value);
          byAge = [...byAge, [key, value] as [number, number]].slice(-most);
        }
        expect([...map]).toEqual(byAge);
        expect(map.size).toBe(byAge.length);
        expect(map.get(key)).toBe(deletes ? undefined : value);
      }
    }),
  );
});

test('RecentMap.set – the same few keys are set many times – keeps no earlier state of the map in memory', () => {
  setFlagsFromString('--expose-gc');
  const collectGarbage = runInNewContext('gc') as () => void;
  const map = new RecentMap<number, string>(1_000_000);
  const bytesAfter = (sets: number): number => {
    for (let index = 0; index < sets; index++) map.set(index % 1_000, 'value');
    collectGarbage();
    return process.memoryUsage().heapUsed;
  };
  const before = bytesAfter(10_000);
  expect(bytesAfter(300_000) - before).toBeLessThan(2_000_000);
  expect(map.size).toBe(1_000);
});
