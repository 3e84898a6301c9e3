import fc from 'fast-check';
import { jsonItem } from '../../../../lambda/query-fanout/json-item';
import type { DynamoDbItem } from '../../../../lib/core';

const everything: DynamoDbItem = {
  text: { S: 'a' },
  yes: { BOOL: true },
  nothing: { NULL: true },
  bytes: { B: Uint8Array.of(255, 0) },
  texts: { SS: ['a', 'b'] },
  numbers: { NS: ['1', '9007199254740993'] },
  binaries: { BS: [Uint8Array.of(1)] },
  list: { L: [{ N: '1.5' }, { M: { inner: { B: Uint8Array.of(2) } } }] },
};

describe('jsonItem', () => {
  test('writes every type as JSON', () => {
    expect(JSON.parse(JSON.stringify(jsonItem(everything)))).toEqual({
      text: 'a',
      yes: true,
      nothing: null,
      bytes: '/wA=',
      texts: ['a', 'b'],
      numbers: [1, '9007199254740993'],
      binaries: ['AQ=='],
      list: [1.5, { inner: 'Ag==' }],
    });
  });

  test.each([
    ['0', 0],
    ['-1.5', -1.5],
    ['1e3', 1000],
    ['9007199254740991', 9007199254740991],
    ['9007199254740992', '9007199254740992'],
    ['9007199254740993', '9007199254740993'],
    ['0.1', 0.1],
    ['0.12345678901234567890', '0.12345678901234567890'],
    ['1E+125', '1E+125'],
    ['1E-130', 1e-130],
  ])('writes the number %s as %p', (text, expected) => {
    expect(jsonItem({ number: { N: text } })).toEqual({ number: expected });
  });

  test('loses no digit of any number', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(10n ** 38n) + 1n, max: 10n ** 38n - 1n }), (digits) => {
        const { number } = jsonItem({ number: { N: digits.toString() } });
        return BigInt(number as string | number) === digits;
      }),
    );
  });
});
