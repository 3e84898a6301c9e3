import { InvalidArgumentError } from '../../../../lib/core';
import { ItemSizes } from '../../../../lib/core/fan-out/item-sizes';
import { byteBounds, checkPageBytes } from '../../../../lib/core/fan-out/page-bytes';

describe('a page of bytes', () => {
  test('has about as many items as their mean size lets it hold: as the store knows it, and then as they are measured', () => {
    const measured: number[] = [];
    const measure = (bytes: number): number => {
      measured.push(bytes);
      return bytes;
    };
    const { bytesOf, roughly } = byteBounds(8_192, measure, new ItemSizes(1_000));
    expect(roughly!()).toBe(9);
    const positions = [1_500, 2_500].map((item) => ({ item, shard: 0 }));
    for (const position of [...positions, ...positions]) expect(bytesOf!(position)).toBe(position.item);
    expect(roughly!()).toBe(5);
    expect(measured).toEqual([1_500, 2_500]);
  });

  test('has an item for each block as long as no size is known', () => {
    expect(byteBounds(8_192, () => 1, new ItemSizes()).roughly!()).toBe(2);
  });

  test.each<[unknown, unknown]>([
    [undefined, undefined],
    [1, undefined],
    [1e6, () => 1],
  ])('may have %p bytes, measured by %p', (maxPageBytes, measure) => {
    expect(() => checkPageBytes(maxPageBytes, 'itemBytes', measure)).not.toThrow();
  });

  test.each<[unknown, unknown, string]>([
    [0.5, undefined, 'maxPageBytes must be a number of bytes of at least 1, got 0.5'],
    [Number.POSITIVE_INFINITY, undefined, 'maxPageBytes must be a number of bytes of at least 1, got Infinity'],
    ['5', undefined, 'maxPageBytes must be a number of bytes of at least 1, got "5"'],
    [1, 5, 'itemBytes must be a function that returns a number of bytes, got 5'],
  ])('cannot have %p bytes, measured by %p', (maxPageBytes, measure, message) => {
    expect(() => checkPageBytes(maxPageBytes, 'itemBytes', measure)).toThrow(InvalidArgumentError);
    expect(() => checkPageBytes(maxPageBytes, 'itemBytes', measure)).toThrow(message);
  });
});
