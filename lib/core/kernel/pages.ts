import { IncompleteAnswerError } from './incomplete-answer-error';

/**
 * The pages that a read has passed, each by a text that names it. It keeps the last page, and a mark on an earlier page
 * that moves on at ever longer intervals. Pages that lead back to each other reach the mark again, so they are not read for
 * ever. Source: Brent, "An Improved Monte Carlo Factorization Algorithm", 1980, section 2.
 */
export interface PageTrail {
  page: string;
  mark: string;
  steps: number;
  mostSteps: number;
}

/**
 * The trail to one more page.
 *
 * @param operation the operation of the service that is asked for pages, such as `Scan`
 * @throws IncompleteAnswerError if it leads back
 */
export function trailTo(operation: string, page: string, before: PageTrail | undefined): PageTrail {
  if (before === undefined) return { page, mark: page, steps: 0, mostSteps: 1 };
  const { mark, mostSteps } = before;
  if (page === mark) throw new IncompleteAnswerError(operation, 'a page that leads on');
  const steps = before.steps + 1;
  return steps < mostSteps
    ? { page, mark, steps, mostSteps }
    : { page, mark: page, steps: 0, mostSteps: 2 * mostSteps };
}

/**
 * Reads the pages of one answer, one after the other.
 *
 * @param operation the operation of the service that is asked for pages, such as `Scan`
 * @param read reads the page with this start, which is a key or a token. Undefined: the first page
 * @param startOfNext the start of the next page. Undefined or null if this is the last page
 * @throws IncompleteAnswerError if a page leads back
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
    trail = trailTo(operation, JSON.stringify(start), trail);
  }
}
