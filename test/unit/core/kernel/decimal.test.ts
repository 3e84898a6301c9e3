import fc from 'fast-check';
import {
  compareNumbers,
  exactNumber,
  nextNumber,
  numberBytes,
  plainDecimal,
} from '../../../../lib/core/kernel/decimal';
import { plainItem } from '../../../../lib/core/sharded-index';

const sign = Math.sign;

describe('compareNumbers', () => {
  test.each([
    ['0', '-0'],
    ['0.0', '0e5'],
    ['1', '1.000'],
    ['100', '1E+2'],
    ['0.00120', '1.2e-3'],
    ['+7', '007'],
  ])('%s and %s are equal', (a, b) => {
    expect(sign(compareNumbers(a, b))).toBe(0);
  });

  test.each([
    ['-9.9999999999999999999999999999999999999E+125', '-1E-130'],
    ['-1', '0'],
  ])('%s is less than %s', (a, b) => {
    expect(compareNumbers(a, b)).toBeLessThan(0);
    expect(compareNumbers(b, a)).toBeGreaterThan(0);
  });

  test('returns the result of exact integer arithmetic for numbers of 38 digits in any notation', () => {
    const decimal = fc.record({
      digits: fc.bigInt({ min: -(10n ** 38n) + 1n, max: 10n ** 38n - 1n }),
      scale: fc.integer({ min: 0, max: 40 }),
    });
    fc.assert(
      fc.property(decimal, decimal, (a, b) => {
        const exact = (n: typeof a): bigint => n.digits * 10n ** BigInt(40 - n.scale);
        const expected = exact(a) < exact(b) ? -1 : Number(exact(a) > exact(b));
        expect(sign(compareNumbers(`${a.digits}e-${a.scale}`, `${b.digits}e-${b.scale}`))).toBe(expected);
      }),
    );
  });
});

describe('plainDecimal', () => {
  test.each([
    ['1e21', '1000000000000000000000'],
    ['-1.5e-7', '-0.00000015'],
    ['007', '7'],
    ['0.50', '0.5'],
    ['12.34', '12.34'],
    ['1.2e1', '12'],
    ['100', '100'],
    ['-0', '0'],
    ['.5', '0.5'],
  ])('writes %s as %s', (text, plain) => {
    expect(plainDecimal(text)).toBe(plain);
  });

  test('keeps the value of every number and writes equal numbers in the same way', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (number) => {
        const plain = plainDecimal(String(number));
        expect(plain).toMatch(/^-?\d+(\.\d+)?$/);
        expect(Number(plain)).toBe(number === 0 ? 0 : number);
        expect(plainDecimal(number.toExponential(20))).toBe(plainDecimal(number.toExponential(20).replace('e', '0e')));
      }),
    );
  });
});

describe('nextNumber', () => {
  test.each([
    ['0', '1E-130', '-1E-130'],
    ['-0.0', '1E-130', '-1E-130'],
    ['2', `2.${'0'.repeat(36)}1`, `1.${'9'.repeat(37)}`],
    ['100', `100.${'0'.repeat(34)}1`, `99.${'9'.repeat(36)}`],
    ['-1', `-0.${'9'.repeat(38)}`, `-1.${'0'.repeat(36)}1`],
    [`9.${'9'.repeat(37)}`, '10', `9.${'9'.repeat(36)}8`],
    [`1.${'0'.repeat(36)}1`, `1.${'0'.repeat(36)}2`, '1'],
  ])('returns the nearest number of 38 digits above and below %s', (text, above, below) => {
    expect(plainDecimal(nextNumber(text, 1)!)).toBe(plainDecimal(above));
    expect(plainDecimal(nextNumber(text, -1)!)).toBe(plainDecimal(below));
  });

  test.each(['1'.repeat(39), '1E-100', '-1E-100', '1E100'])('returns undefined for %s', (text) => {
    expect(nextNumber(text, 1)).toBeUndefined();
    expect(nextNumber(text, -1)).toBeUndefined();
  });
});

describe('exactNumber', () => {
  test.each([
    ['1.50', 1.5],
    ['-1E+3', -1_000],
    ['0.1', 0.1],
    ['9007199254740991', 2 ** 53 - 1],
    ['-9007199254740991', 1 - 2 ** 53],
  ])('returns %s as a number', (text, number) => {
    expect(exactNumber(text)).toBe(number);
  });

  test.each(['9007199254740992', '9007199254740993', '1e100', '0.10000000000000001', '-9.99E+400'])(
    'returns %s as a string, because a JavaScript number may not represent it exactly',
    (text) => {
      expect(exactNumber(text)).toBe(text);
    },
  );
});

test.each(['', ' ', '.', '+', '-', '-.', 'e5', '.e5', 'abc', '1.2.3', '0x10', 'NaN', 'Infinity'])(
  'every function that parses a number rejects %j',
  (text) => {
    const error = expect.objectContaining({ code: 'NOT_A_NUMBER' });
    expect(() => exactNumber(text)).toThrow(error);
    expect(() => plainItem({ n: { N: text } })).toThrow(error);
    expect(() => plainItem({ n: { NS: [text] } })).toThrow(error);
    expect(() => compareNumbers('0', text)).toThrow(error);
    expect(() => plainDecimal(text)).toThrow(error);
    expect(() => nextNumber(text, 1)).toThrow(error);
    expect(numberBytes(text)).toBe(text.length);
  },
);
