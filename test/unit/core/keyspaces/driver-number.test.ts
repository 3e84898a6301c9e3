import { types } from 'cassandra-driver';
import fc from 'fast-check';
import { driverDecimal, driverInteger } from '../../../../lib/core/keyspaces/driver-number';
import { randomRuns } from '../../../support/random-runs';

const numRuns = randomRuns(300);

/** The bytes of a varint in the protocol: two's complement with the minimum length. */
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

test('driverInteger returns the exact bigint of an Integer with any number of digits', () => {
  fc.assert(
    fc.property(wholeNumbers, (value) => {
      expect(driverInteger(types.Integer.fromBuffer(bytesOf(value)))).toBe(value);
    }),
    { numRuns },
  );
});

test('driverDecimal returns the digits of a BigDecimal, with an exponent instead of many zeros', () => {
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
])('driverDecimal for %p with the scale %p returns %p', (unscaled, scale, text) => {
  expect(driverDecimal(decimalOf(unscaled, scale))).toBe(text);
});

test.each([undefined, 'x', {}, types.Long.ONE])('%p is neither an Integer nor a BigDecimal', (value) => {
  expect([driverInteger(value), driverDecimal(value)]).toEqual([undefined, undefined]);
});
