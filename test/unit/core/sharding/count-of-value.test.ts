import { countOfValue } from '../../../../lib/core/sharding/count-of-value';

const counts = {
  default: 1,
  byValue: { open: 2, '7': 3, '1e+21': 4, [`1${'0'.repeat(24)}`]: 5, '-0.5': 6, undefined: 7 },
};

test.each<[string, string | number | undefined, number]>([
  ['a value in byValue has its own count', 'open', 2],
  ['a value that is not in byValue has the default count', 'closed', 1],
  ['a missing value has the default count', undefined, 1],
  ['an inherited property of byValue is not a count', 'toString', 1],
  ['a number and its digits have the same count', 7, 3],
  ['a number and its digits have the same count', '7', 3],
  ['a fraction has the count of its digits', -0.5, 6],
  ['byValue may contain a large number in the notation of JavaScript', 1e21, 4],
  ['byValue may contain a large number in the notation of JavaScript', `1${'0'.repeat(21)}`, 4],
  ['byValue may contain a large number as digits', 1e24, 5],
  ['another notation of the same number is another value', '7.0', 1],
  ['another notation of the same number is another value', '07', 1],
  ['another notation of the same number is another value', ' 7', 1],
  ['digits beyond the range of JavaScript numbers are a separate value', '1'.padEnd(400, '0'), 1],
])('%s: %p', (_, value, count) => {
  expect(countOfValue(counts, value)).toBe(count);
});

test('countOfValue – no counts by value – returns the default for all values', () => {
  expect(countOfValue({ default: 1 }, 'open')).toBe(1);
  expect(countOfValue({ default: 1, byValue: null }, 'open')).toBe(1);
});
