import fc from 'fast-check';
import { requestedWrites, uncounted } from '../../../../lib/core/adaptive-counts/requested-writes';
import { seededRandom } from '../../../../lib/testing/seeded-random';

describe('requestedWrites', () => {
  test('counts each throttled attempt as a write if writers do not retry', () => {
    expect(requestedWrites({ admitted: 1_000, refused: 7_000, attempts: 1 })).toEqual({
      admitted: 1_000,
      throttled: 7_000,
    });
  });

  test('returns the admitted writes if nothing was throttled', () => {
    expect(requestedWrites({ admitted: 1_000, refused: 0 })).toEqual({ admitted: 1_000, throttled: 0 });
  });

  test('if no write was admitted, counts three throttled attempts as one write', () => {
    expect(requestedWrites({ admitted: 0, refused: 9_000 })).toEqual({ admitted: 0, throttled: 3_000 });
  });

  test.each([
    [0.02, 3],
    [0.5, 3],
    [0.95, 3],
    [0.5, 10],
  ])(
    'estimates the writes from attempts that are throttled with probability %d, with %d attempts per write',
    (p, attempts) => {
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
      const found = requestedWrites({ admitted, refused, attempts });
      expect((found.admitted + found.throttled) / writes).toBeCloseTo(1, 2);
      expect(found.throttled / writes).toBeCloseTo(p, 2);
    },
  );

  test('returns a number of writes from the number of admitted writes to the number of all attempts', () => {
    const count = fc.nat(10_000_000);
    fc.assert(
      fc.property(count, count, fc.integer({ min: 1, max: 20 }), (admitted, refused, attempts) => {
        const found = requestedWrites({ admitted, refused, attempts });
        const wanted = found.admitted + found.throttled;
        expect(wanted).toBeGreaterThanOrEqual(Math.max(admitted, refused / attempts) * (1 - 1e-9));
        expect(wanted).toBeLessThanOrEqual((admitted + refused) * (1 + 1e-9));
      }),
    );
  });
});

test('uncounted returns all admitted writes, and half of this number as throttled writes', () => {
  expect(uncounted(60_000)).toEqual({ admitted: 60_000, throttled: 30_000 });
});
