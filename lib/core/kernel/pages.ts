import { IncompleteAnswerError } from './incomplete-answer-error';

/**
 * Detects a cycle in the pages of a read. The trail contains the most recent page, and an earlier page as the mark. After 1, 2,
 * 4, 8 ... pages, the most recent page becomes the mark. A read in a cycle reaches the mark again, and `addToTrail` then
 * throws.
 *
 * Source: Brent, "An Improved Monte Carlo Factorization Algorithm", 1980, section 2.
 */
export interface PageTrail {
  page: string;
  mark: string;
  steps: number;
  mostSteps: number;
}

/**
 * Adds a page to a trail.
 *
 * @param operation the operation that reads the pages, such as `Scan`
 * @throws IncompleteAnswerError if the page is the marked page, because the pages then form a cycle
 */
export function addToTrail(operation: string, page: string, before: PageTrail | undefined): PageTrail {
  if (before === undefined) return { page, mark: page, steps: 0, mostSteps: 1 };
  const { mark, mostSteps } = before;
  if (page === mark) throw new IncompleteAnswerError(operation, 'the key of a page that was not read before');
  const steps = before.steps + 1;
  return steps < mostSteps
    ? { page, mark, steps, mostSteps }
    : { page, mark: page, steps: 0, mostSteps: 2 * mostSteps };
}

/**
 * Reads all pages of a paged operation, one after the other.
 *
 * @param operation the operation that reads the pages, such as `Scan`
 * @param read reads the page that begins at a key or token, or the first page if its argument is undefined
 * @param startOfNext the key or token of the next page; undefined or null after the last page
 * @throws IncompleteAnswerError if the pages form a cycle
 */
export async function* pages<Page, Start>(
  operation: string,
  read: (start: Start | undefined) => Promise<Page>,
  startOfNext: (page: Page) => Start | null | undefined,
): AsyncGenerator<Page, void, undefined> {
  let trail: PageTrail | undefined;
  for (let start: Start | undefined; ; ) {
    const page = await read(start);
    yield page;
    start = startOfNext(page) ?? undefined;
    if (start === undefined) return;
    trail = addToTrail(operation, JSON.stringify(start), trail);
  }
}
