import { types } from 'cassandra-driver';
import fc from 'fast-check';
import { driverDecimal, driverInteger } from '../../../../lib/core/keyspaces/driver-number';
import { randomRuns } from '../../../support/random-runs';

const numRuns = randomRuns(300);

/** As the protocol has whole numbers: two's complement in the fewest bytes. */
function bytesOf(value: bigint): Buffer {
  const most = 8 * Math.ceil((value.toString(2).length + 2) / 8);
  for (let bits = 8; ; bits += 8) {
    if (bits < most && BigInt.asIntN(bits, value) !== value) continue;
    return Buffer.from(
      BigInt.asUintN(bits, value)
        .toString(16)
        .padStart(bits / 4, '0'),
      'hex',
    );
  }
}

function decimalOf(unscaled: bigint, scale: number): types.BigDecimal {
  const head = Buffer.alloc(4);
  head.writeInt32BE(scale);
  return types.BigDecimal.fromBuffer(Buffer.concat([head, bytesOf(unscaled)]));
}

const wholeNumbers = fc.oneof(fc.bigInt(), fc.bigInt({ min: -(2n ** 4_096n), max: 2n ** 4_096n }));

test('an Integer of the driver is the bigint that it stands for, however many digits it has', () => {
  fc.assert(
    fc.property(wholeNumbers, (value) => {
      expect(driverInteger(types.Integer.fromBuffer(bytesOf(value)))).toBe(value);
    }),
    { numRuns },
  );
});

test('a BigDecimal of the driver is its digits and its point, or an exponent where there would be only zeros', () => {
  const scales = fc.oneof(fc.integer({ min: -5, max: 1_000 }), fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }));
  fc.assert(
    fc.property(wholeNumbers, scales, (unscaled, scale) => {
      const text = driverDecimal(decimalOf(unscaled, scale))!;
      const [, digits, fraction = '', exponent = '0'] = /^(-?\d+)(?:\.(\d+))?(?:E(-?\d+))?$/.exec(text)!;
      const negative = text.startsWith('-');
      const stored = BigInt(digits!.replace('-', '') + fraction);
      expect([negative ? -stored : stored, fraction.length - Number(exponent)]).toEqual([unscaled, scale]);
      expect(text.length).toBeLessThan(3_000);
    }),
    { numRuns },
  );
});

test.each([
  [5n, -2, '5E2'],
  [-5n, 3, '-0.005'],
  [1n, 400_000_000, '1E-400000000'],
])('%p with the scale %p is %p', (unscaled, scale, text) => {
  expect(driverDecimal(decimalOf(unscaled, scale))).toBe(text);
});

test.each([undefined, 'x', {}, types.Long.ONE])('%p is neither', (value) => {
  expect([driverInteger(value), driverDecimal(value)]).toEqual([undefined, undefined]);
});
