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

  test.each([undefined, 1, 1e6])('may have %p bytes', (maxPageBytes) => {
    expect(() => checkPageBytes(maxPageBytes)).not.toThrow();
  });

  test.each([0.5, Number.POSITIVE_INFINITY, '5'])('cannot have %p bytes', (maxPageBytes) => {
    expect(() => checkPageBytes(maxPageBytes)).toThrow(InvalidArgumentError);
  });
});
