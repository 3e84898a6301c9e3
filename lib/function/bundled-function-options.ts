import type * as lambda from 'aws-cdk-lib/aws-lambda';
import type * as logs from 'aws-cdk-lib/aws-logs';

/** What every function that ships inside this library can be given. */
export interface BundledFunctionOptions {
  /**
   * The Node.js runtime to run on. The bundles need Node.js 20 or later.
   *
   * Change it for a region or partition that does not have the default yet.
   *
   * @default - `nodejs24.x`
   */
  readonly runtime?: lambda.Runtime;

  /**
   * How long the function's log group keeps its events. The log group is deleted with the function.
   *
   * @default - one month
   */
  readonly logRetention?: logs.RetentionDays;
}
