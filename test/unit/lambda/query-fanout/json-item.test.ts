import fc from 'fast-check';
import { jsonItem } from '../../../../lambda/query-fanout/json-item';

describe('jsonItem', () => {
  test.each([
    ['0', 0],
    ['9007199254740991', 9007199254740991],
    ['9007199254740993', '9007199254740993'],
    ['0.12345678901234567890', '0.12345678901234567890'],
    ['1E+125', '1E+125'],
    ['1E-130', 1e-130],
  ])('writes the number %s as %p', (text, expected) => {
    expect(jsonItem({ number: { N: text } })).toEqual({ number: expected });
  });

  test('keeps every digit of any number', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(10n ** 38n) + 1n, max: 10n ** 38n - 1n }), (digits) => {
        const { number } = jsonItem({ number: { N: digits.toString() } });
        return BigInt(number as string | number) === digits;
      }),
    );
  });
});
