import fc from 'fast-check';
import { InvalidArgumentError } from '../../../../../lib/core';
import { checkAttributeValue } from '../../../../../lib/core/sharded-index/config/check-attribute-value';
import { itemBytes } from '../../../../../lib/core/sharded-index/query/item-bytes';
import { randomRuns } from '../../../../support/random-runs';

const check = (value: unknown) => () => checkAttributeValue('values[:a]', value);
const nested = (levels: number, wrap: (inner: object) => object) =>
  Array.from({ length: levels }).reduce<object>(wrap, { S: '' });

describe('checkAttributeValue', () => {
  test.each([
    { S: '' },
    { N: '-1.5E+3' },
    { B: new Uint8Array() },
    { BOOL: false },
    { NULL: true },
    { SS: ['a'] },
    { NS: ['1'] },
    { BS: [Buffer.from('a')] },
    { L: [] },
    { M: { __proto__: { S: 'inherited' }, constructor: { S: 'own' } } },
    nested(32, (inner) => ({ L: [inner] })),
    nested(32, (inner) => ({ M: { a: inner } })),
  ])('accepts %j', (value) => {
    expect(check(value)).not.toThrow();
  });

  test.each([
    null,
    'text',
    {},
    { S: 'a', N: '1' },
    { S: 7 },
    { N: ' 1' },
    { N: `${'e'.repeat(1_000_000)}\n` },
    { N: `${'0'.repeat(1_000_000)}1` },
    { B: 'AQ==' },
    { L: [null] },
    JSON.parse('{"__proto__":{"S":"a"}}'),
    nested(33, (inner) => ({ L: [inner] })),
    nested(10_000, (inner) => ({ M: { a: inner } })),
  ])('rejects %p', (value) => {
    expect(check(value)).toThrow(InvalidArgumentError);
  });

  test('itemBytes can measure every value that the check accepts', () => {
    fc.assert(
      fc.property(fc.object({ key: fc.constantFrom('S', 'N', 'B', 'L', 'M', 'SS', 'NS', 'BS', 'a') }), (value) => {
        try {
          checkAttributeValue('value', value);
        } catch {
          return;
        }
        expect(itemBytes({ value: value as { S: string } })).toBeGreaterThan(0);
      }),
      { numRuns: randomRuns(500) },
    );
  });
});
