import { ItemSizes } from '../../../../lib/core/fan-out/item-sizes';

describe('ItemSizes', () => {
  test('knows nothing at first', () => {
    expect(new ItemSizes().mean).toBeUndefined();
  });

  test('knows mean and deviation of what it has seen', () => {
    const sizes = new ItemSizes();
    for (const bytes of [100, 200, 300]) sizes.observe(bytes);
    expect(sizes.mean).toBeCloseTo(200);
    expect(sizes.deviation).toBeCloseTo(Math.sqrt(20_000 / 3));
  });

  test('forgets sizes that are long gone', () => {
    const sizes = new ItemSizes();
    for (let count = 0; count < 10_000; count++) sizes.observe(100);
    for (let count = 0; count < 10_000; count++) sizes.observe(500);
    expect(sizes.mean).toBeCloseTo(500, 0);
    expect(sizes.deviation).toBeLessThan(5);
  });
});
