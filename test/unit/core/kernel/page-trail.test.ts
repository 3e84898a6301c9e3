import fc from 'fast-check';
import { OnwardPages } from '../../../../lib/core/kernel/onward-pages';
import { type PageTrail, trailTo } from '../../../../lib/core/kernel/page-trail';

const BACK = 'the answer to Scan must hold a page that leads on';

/** How many pages a read passes until it finds that they lead back: a page of number `last` leads to that of number `back`. */
function passed(last: number, back: number): number {
  let trail: PageTrail | undefined;
  for (let page = 0, count = 0; count < 10_000; count++) {
    try {
      trail = trailTo('Scan', `page ${page}`, trail);
    } catch (error) {
      expect(error).toMatchObject({ problem: BACK });
      return count;
    }
    page = page === last ? back : page + 1;
  }
  throw new Error('nobody has found out that the pages lead back');
}

test('a trail never ends on pages that lead on, and after about three times as many where the last one leads back', () => {
  fc.assert(
    fc.property(fc.nat({ max: 200 }), fc.nat({ max: 200 }), (last, back) => {
      const pages = last + 1;
      const count = passed(last, Math.min(back, last));
      expect(count).toBeGreaterThanOrEqual(pages);
      expect(count).toBeLessThanOrEqual(3 * pages);
    }),
  );
});

test('the pages of one answer lead on to pages that were not read, or end', () => {
  const pages = new OnwardPages('Scan');
  for (const start of ['a', { key: 1 }, { key: 2 }]) expect(pages.next(start)).toBe(start);
  for (const end of [undefined, null]) expect(pages.next(end)).toBeUndefined();
  expect(() => pages.next({ key: 1 })).toThrow(BACK);
});
