import { EvenShardsError } from '../core/foundation/errors';

/** The code of a function that is bundled when this library is built is not there. */
export class MissingBundleError extends EvenShardsError {
  constructor(constructPath: string, bundle: string) {
    super(
      'MISSING_BUNDLE',
      `${constructPath}: dist/lambda/${bundle}/index.js is missing, run "npm run build" to make it`,
    );
  }
}
