import type { Duration } from 'aws-cdk-lib';
import type * as events from 'aws-cdk-lib/aws-events';
import type * as s3 from 'aws-cdk-lib/aws-s3';
import type { BundledFunctionOptions } from '../../function/bundled-function';

/** What an `IndexResharding` and a `TableResharding` are given alike. */
export interface ReshardingOptions extends BundledFunctionOptions {
  /** The most read units to consume a second, in all segments together: a number greater than 0. */
  readonly readUnitsPerSecond: number;

  /**
   * The most write units to consume a second, in all segments together and those of all indexes of the table included: a
   * number greater than 0.
   */
  readonly writeUnitsPerSecond: number;

  /**
   * Into how many segments the table is divided: a whole number from 1 to 256, known at synthesis. Each segment is an
   * execution of its own, which invokes the function until the segment is complete.
   *
   * @default 8
   */
  readonly segments?: number;

  /**
   * How many segments are worked on at once: a whole number of at least 1. The budgets are divided among them.
   *
   * @default - all of them
   */
  readonly maxConcurrency?: number;

  /**
   * How many segments may fail before the execution fails and stops the others: a whole number of at least 0. A segment
   * fails when its invocation fails six times without progress.
   *
   * @default 0
   */
  readonly toleratedFailureCount?: number;

  /**
   * When to count strays, without moving them. Put an alarm on `metricHiddenStrays`.
   *
   * @default - never by itself
   */
  readonly auditSchedule?: events.Schedule;

  /**
   * Where Step Functions writes what each segment has found and done, as JSON.
   *
   * @default - the output of the execution holds it
   */
  readonly reportBucket?: s3.IBucket;

  /**
   * What the names of the reports in the bucket begin with.
   *
   * @default - nothing
   */
  readonly reportPrefix?: string;

  /**
   * How long one invocation may take, from 1 to 15 minutes. A segment may take as many invocations as it needs.
   *
   * @default - 15 minutes
   */
  readonly timeout?: Duration;

  /**
   * Memory in MiB, and CPU in proportion to it.
   *
   * @default 512
   */
  readonly memorySize?: number;
}
