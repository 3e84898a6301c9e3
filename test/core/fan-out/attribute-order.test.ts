import fc from 'fast-check';
import { compareAttributeValues, compareNumbers } from '../../../lib/core/fan-out/attribute-order';

const sign = Math.sign;

describe('compareAttributeValues', () => {
  test('orders strings by their UTF-8 bytes', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (a, b) => {
        expect(sign(compareAttributeValues({ S: a }, { S: b }))).toBe(
          sign(Buffer.compare(Buffer.from(a), Buffer.from(b))),
        );
      }),
    );
  });

  test('puts U+FF5E before U+10000, where UTF-16 has them the other way round', () => {
    expect('\uff5e' < '\u{10000}').toBe(false);
    expect(compareAttributeValues({ S: '\uff5e' }, { S: '\u{10000}' })).toBeLessThan(0);
  });

  test('orders binary by unsigned bytes', () => {
    expect(compareAttributeValues({ B: Uint8Array.of(127) }, { B: Uint8Array.of(128) })).toBeLessThan(0);
    expect(compareAttributeValues({ B: Uint8Array.of(1) }, { B: Uint8Array.of(1, 0) })).toBeLessThan(0);
  });

  test('fails for keys of two types', () => {
    expect(() => compareAttributeValues({ S: '1' }, { N: '1' })).toThrow('got S and N');
  });
});

describe('compareNumbers', () => {
  test.each([
    ['0', '-0'],
    ['0.0', '0e5'],
    ['1', '1.000'],
    ['100', '1E+2'],
    ['0.00120', '1.2e-3'],
    ['+7', '007'],
  ])('takes %s and %s for equal', (a, b) => {
    expect(sign(compareNumbers(a, b))).toBe(0);
  });

  test.each([
    ['9007199254740992', '9007199254740993'],
    ['0.1', '0.10000000000000000000000000000000000001'],
    ['-9.9999999999999999999999999999999999999E+125', '-1E-130'],
    ['-2', '-1'],
    ['-1', '0'],
    ['9', '10'],
    ['99e-3', '0.1'],
  ])('puts %s before %s', (a, b) => {
    expect(compareNumbers(a, b)).toBeLessThan(0);
    expect(compareNumbers(b, a)).toBeGreaterThan(0);
  });

  test('agrees with exact integer arithmetic over 38 digits and any notation', () => {
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

  test('fails for text that is no number', () => {
    expect(() => compareNumbers('ten', '10')).toThrow('expected a decimal number, got "ten"');
  });
});
