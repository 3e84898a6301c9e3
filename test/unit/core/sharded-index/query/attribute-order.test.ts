import fc from 'fast-check';
import { compareAttributeValues } from '../../../../../lib/core/sharded-index/query/attribute-order';

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

  test.each([
    ['9007199254740992', '9007199254740993'],
    ['1', '1.0000000000000000000000000000000000001'],
    ['0.9999999999999999999999999999999999999', '1'],
    ['9', '10'],
    ['-1e120', '1e-120'],
  ])('orders numbers by all of their digits: %s before %s', (less, more) => {
    expect(compareAttributeValues({ N: less }, { N: more })).toBeLessThan(0);
    expect(compareAttributeValues({ N: more }, { N: less })).toBeGreaterThan(0);
  });

  test('fails for keys of two types', () => {
    expect(() => compareAttributeValues({ S: '1' }, { N: '1' })).toThrow('got S and N');
    expect(() => compareAttributeValues({ B: Uint8Array.of(1) }, { N: '1' })).toThrow('got B and N');
  });
});
