import fc from 'fast-check';
import { uncounted, wantedWrites } from '../../../../lib/core/adaptive-counts/wanted-writes';
import { seededRandom } from '../../../../lib/testing/seeded-random';

describe('wantedWrites', () => {
  test('of writers that try once, refused attempts are writes', () => {
    expect(wantedWrites({ admitted: 1_000, refused: 7_000, attempts: 1 })).toEqual({
      admitted: 1_000,
      throttled: 7_000,
    });
  });

  test('without refusals, what was admitted is all', () => {
    expect(wantedWrites({ admitted: 1_000, refused: 0 })).toEqual({ admitted: 1_000, throttled: 0 });
  });

  test('if nothing was admitted, each write was refused at every attempt', () => {
    expect(wantedWrites({ admitted: 0, refused: 9_000 })).toEqual({ admitted: 0, throttled: 3_000 });
  });

  test.each([
    [0.02, 3],
    [0.5, 3],
    [0.95, 3],
    [0.5, 10],
  ])('finds the writes behind attempts that are refused with probability %d, %d for a write', (p, attempts) => {
    const random = seededRandom(7);
    const writes = 200_000;
    let [admitted, refused] = [0, 0];
    for (let write = 0; write < writes; write += 1) {
      for (let attempt = 1; attempt <= attempts; attempt += 1) {
        if (random() >= p) {
          admitted += 1;
          break;
        }
        refused += 1;
      }
    }
    const found = wantedWrites({ admitted, refused, attempts });
    expect((found.admitted + found.throttled) / writes).toBeCloseTo(1, 2);
    expect(found.throttled / writes).toBeCloseTo(p, 2);
  });

  test('never finds more than every attempt, nor less than what was admitted', () => {
    const count = fc.nat(10_000_000);
    fc.assert(
      fc.property(count, count, fc.integer({ min: 1, max: 20 }), (admitted, refused, attempts) => {
        const found = wantedWrites({ admitted, refused, attempts });
        const wanted = found.admitted + found.throttled;
        expect(wanted).toBeGreaterThanOrEqual(Math.max(admitted, refused / attempts) * (1 - 1e-9));
        expect(wanted).toBeLessThanOrEqual((admitted + refused) * (1 + 1e-9));
      }),
    );
  });
});

test('a minute without a count is taken for half as much again', () => {
  expect(uncounted(60_000)).toEqual({ admitted: 60_000, throttled: 30_000 });
});
