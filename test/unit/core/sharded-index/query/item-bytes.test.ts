import type { DynamoDbItem } from '../../../../../lib/core';
import { itemBytes } from '../../../../../lib/core/sharded-index/query/item-bytes';

test.each<[string, DynamoDbItem, number]>([
  ['a string by its UTF-8 bytes', { ab: { S: 'é' } }, 4],
  ['a number by pairs of digits', { n: { N: '12.345' } }, 5],
  ['a minus as one byte', { n: { N: '-12.345' } }, 6],
  ['pairs of digits from the decimal point', { n: { N: '123.45' } }, 5],
  ['pairs of digits on both sides of the decimal point', { n: { N: '1.2' } }, 4],
  ['a number with an exponent as its digits', { n: { N: '1.2e-3' } }, 3],
  ['a number without its leading and trailing zeros', { n: { N: '1200' } }, 3],
  ['zero as one byte', { n: { N: '0' } }, 2],
  ['an invalid number by its text', { n: { N: 'none' } }, 5],
  ['a number that is too long by its text', { n: { N: `1E${'9'.repeat(400)}` } }, 403],
  ['binary by its length', { b: { B: Uint8Array.of(1, 2, 3) } }, 4],
  ['null and boolean as one byte each', { n: { NULL: true }, b: { BOOL: false } }, 4],
  ['the elements of sets', { s: { SS: ['a', 'bc'] }, n: { NS: ['1', '2'] }, b: { BS: [Uint8Array.of(1, 2)] } }, 12],
  ['a list with its overhead', { l: { L: [{ S: 'ab' }, { NULL: true }] } }, 9],
  ['a map with its keys', { m: { M: { k: { S: 'ab' } } } }, 8],
])('itemBytes counts %s', (_, item, bytes) => {
  expect(itemBytes(item)).toBe(bytes);
});
