import { EvenShardsError } from '../core/foundation/errors';

/** What a check throws, as a validation of CDK reports it: so that the user sees all that is wrong, not the first of it. */
export function problemsOf(check: () => void): string[] {
  try {
    check();
    return [];
  } catch (error) {
    if (!(error instanceof EvenShardsError)) throw error;
    return [error.message];
  }
}
