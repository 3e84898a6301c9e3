import { suffixRange } from '../../../../lib/core';

describe('suffixRange', () => {
  test('returns 5 for the invoice example of the AWS Database Blog: 5,000 writes per second of 1 KB', () => {
    expect(suffixRange({ writesPerSecond: 5_000, itemKb: 1 })).toBe(5);
  });

  test.each([
    [1_000, 1, 1],
    [1_001, 1, 2],
    [5_000, 0.2, 5],
    [5_000, 1.1, 10],
    [0, 1, 1],
    [1, 400, 1],
  ])('%d writes per second of %d KB need %d suffixes', (writesPerSecond, itemKb, suffixes) => {
    expect(suffixRange({ writesPerSecond, itemKb })).toBe(suffixes);
  });

  test.each([
    [{ writesPerSecond: -1, itemKb: 1 }, 'writesPerSecond must be a number of at least 0, got -1'],
    [{ writesPerSecond: 1, itemKb: 0 }, 'itemKb must be a number above 0, got 0'],
    [{ writesPerSecond: 1, itemKb: '1' as never }, 'itemKb must be a number above 0, got "1"'],
  ])('rejects %j', (traffic, message) => {
    expect(() => suffixRange(traffic)).toThrow(`[INVALID_ARGUMENT] ${message}`);
  });
});
