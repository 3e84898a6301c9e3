import { IncompleteAnswerError } from './incomplete-answer-error';

/**
 * The pages that a read has come by, each by a text that names it. Of them it keeps the last, and a mark that is further and
 * further behind: pages that lead back to one another come to the mark again, and nobody reads them for ever.
 * Source: Brent, "An Improved Monte Carlo Factorization Algorithm", 1980, section 2.
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
