import fc from 'fast-check';
import { addToTrail, type PageTrail } from '../../../../lib/core/kernel/pages';

const REPEATED_PAGE = 'the response of Scan must contain the key of a page that was not read before';

/** The number of pages until an error is thrown, if page `last` links to page `back`. */
function pagesUntilError(last: number, back: number): number {
  let trail: PageTrail | undefined;
  for (let page = 0, count = 0; count < 10_000; count++) {
    try {
      trail = addToTrail('Scan', `page ${page}`, trail);
    } catch (error) {
      expect(error).toMatchObject({ problem: REPEATED_PAGE });
      return count;
    }
    page = page === last ? back : page + 1;
  }
  throw new Error('the repeated pages were not detected');
}

test('addToTrail – the last page links back to any earlier page – throws after the first repeated page, within three times the number of pages', () => {
  fc.assert(
    fc.property(fc.nat({ max: 200 }), fc.nat({ max: 200 }), (last, back) => {
      const pages = last + 1;
      const count = pagesUntilError(last, Math.min(back, last));
      expect(count).toBeGreaterThanOrEqual(pages);
      expect(count).toBeLessThanOrEqual(3 * pages);
    }),
  );
});
