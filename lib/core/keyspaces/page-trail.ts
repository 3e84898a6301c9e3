import { incompleteRows } from './select-rows';

/**
 * The page states that a read has followed. Of them it keeps the last, and a mark that is further and further behind: states
 * that lead back to one another come to the mark again, and nobody follows them for ever.
 * Source: Brent, "An Improved Monte Carlo Factorization Algorithm", 1980, section 2.
 */
export interface PageTrail {
  pageState: string;
  mark: string;
  steps: number;
  mostSteps: number;
}

/**
 * The trail to one more page state.
 *
 * @throws IncompleteAnswerError if it leads back
 */
export function trailTo(pageState: string, before: PageTrail | undefined): PageTrail {
  if (before === undefined) return { pageState, mark: pageState, steps: 0, mostSteps: 1 };
  const { mark, mostSteps } = before;
  if (pageState === mark) throw incompleteRows();
  const steps = before.steps + 1;
  return steps < mostSteps
    ? { pageState, mark, steps, mostSteps }
    : { pageState, mark: pageState, steps: 0, mostSteps: 2 * mostSteps };
}
