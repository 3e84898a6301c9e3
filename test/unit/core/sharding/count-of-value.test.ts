import { countOfValue } from '../../../../lib/core/sharding/count-of-value';

const counts = {
  default: 1,
  byValue: { open: 2, '7': 3, '1e+21': 4, [`1${'0'.repeat(24)}`]: 5, '-0.5': 6, undefined: 7 },
};

test.each<[string, string | number | undefined, number]>([
  ['a named value has its own count', 'open', 2],
  ['another has the default', 'closed', 1],
  ['no value has the default', undefined, 1],
  ['what every object has is no named value', 'toString', 1],
  ['a number and its digits have one count', 7, 3],
  ['a number and its digits have one count', '7', 3],
  ['a fraction too', -0.5, 6],
  ['a large number may be named as JavaScript writes it', 1e21, 4],
  ['a large number may be named as JavaScript writes it', `1${'0'.repeat(21)}`, 4],
  ['a large number may be named by its digits', 1e24, 5],
  ['other texts of the same number are other values', '7.0', 1],
  ['other texts of the same number are other values', '07', 1],
  ['other texts of the same number are other values', ' 7', 1],
  ['digits of no number of JavaScript are a value of their own', '1'.padEnd(400, '0'), 1],
])('%s: %p', (_, value, count) => {
  expect(countOfValue(counts, value)).toBe(count);
});

test('a configuration without counts by value has the default for all', () => {
  expect(countOfValue({ default: 1 }, 'open')).toBe(1);
  expect(countOfValue({ default: 1, byValue: null }, 'open')).toBe(1);
});
