import fc from 'fast-check';
import { addToTrail, type PageTrail } from '../../../../lib/core/kernel/pages';

const BACK = 'the response of Scan must contain the key of a page that was not read before';

/** How many pages a read passes until it finds that they lead back: a page of number `last` leads to that of number `back`. */
function passed(last: number, back: number): number {
  let trail: PageTrail | undefined;
  for (let page = 0, count = 0; count < 10_000; count++) {
    try {
      trail = addToTrail('Scan', `page ${page}`, trail);
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
