import fc from 'fast-check';
import { compareAttributeValues } from '../../../../../lib/core/sharded-index/query/attribute-order';
import { anyText } from '../../../../support/any-text';

const sign = Math.sign;

describe('compareAttributeValues', () => {
  test('orders strings by their UTF-8 bytes', () => {
    fc.assert(
      fc.property(anyText(), anyText(), (a, b) => {
        expect(sign(compareAttributeValues({ S: a }, { S: b }))).toBe(
          sign(Buffer.compare(Buffer.from(a), Buffer.from(b))),
        );
      }),
    );
  });

  test.each([
    ['\ud7ff', '\ue000'],
    ['\ue000', '\u{10000}'],
    ['\uffff', '\u{10000}'],
  ])('orders strings by code point, even where UTF-16 has another order: %j before %j', (less, more) => {
    expect(compareAttributeValues({ S: less }, { S: more })).toBeLessThan(0);
    expect(compareAttributeValues({ S: more }, { S: less })).toBeGreaterThan(0);
  });

  test('orders binary values by their unsigned bytes', () => {
    expect(compareAttributeValues({ B: Uint8Array.of(127) }, { B: Uint8Array.of(128) })).toBeLessThan(0);
    expect(compareAttributeValues({ B: Uint8Array.of(1) }, { B: Uint8Array.of(1, 0) })).toBeLessThan(0);
  });

  test.each([
    ['9007199254740992', '9007199254740993'],
    ['1', '1.0000000000000000000000000000000000001'],
    ['9', '10'],
  ])('orders numbers by all of their digits: %s before %s', (less, more) => {
    expect(compareAttributeValues({ N: less }, { N: more })).toBeLessThan(0);
    expect(compareAttributeValues({ N: more }, { N: less })).toBeGreaterThan(0);
  });
});
