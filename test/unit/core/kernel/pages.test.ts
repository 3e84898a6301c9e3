import fc from 'fast-check';
import { addToTrail, type PageTrail, pages } from '../../../../lib/core/kernel/pages';

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

test('pages reads one page after the other, until a page has no next one', async () => {
  const started: unknown[] = [];
  const read = async (start: number | undefined) => {
    started.push(start);
    return { next: start === 2 ? null : (start ?? 0) + 1 };
  };
  for await (const _ of pages('Scan', read, ({ next }) => next));
  expect(started).toEqual([undefined, 1, 2]);
});

test('pages throws if a page leads back', async () => {
  const readAll = async () => {
    for await (const _ of pages(
      'Scan',
      async (start: number | undefined) => ({ next: start ?? 1 }),
      ({ next }) => next,
    ));
  };
  await expect(readAll()).rejects.toMatchObject({ problem: BACK });
});
