import { checkPositive } from '../../kernel/checks';
import type { Clock } from '../../kernel/clock';
import { InvalidArgumentError } from '../../kernel/errors';
import { type ScanPolicy, scanPolicy } from '../../sharding/segment-scan';
import type { StrayReport } from './stray-report';

/** The part of a table to scan, and the speed of the scan. */
export interface SegmentOptions<Report = StrayReport> {
  /**
   * The segment to scan, from 0 to `totalSegments` - 1. Several processes can scan different segments in parallel.
   * @default 0
   */
  segment?: number;
  /**
   * The number of segments into which the table is divided, from 1 to 1,000,000. DynamoDB divides the key space evenly.
   * @default 1: one scan reads the whole table
   */
  totalSegments?: number;
  /**
   * The `resumePoint` of an earlier report. The scan continues where the earlier scan stopped. The function, the index,
   * its shard counts and the segment must be the same as in the earlier scan.
   * @default the beginning of the segment
   */
  resumeFrom?: string;
  /**
   * The maximum number of read units to consume per second, greater than 0. DynamoDB charges for whole items, even if a
   * scan returns only some attributes.
   * @default no limit
   */
  readUnitsPerSecond?: number;
  /**
   * Whether reads are strongly consistent, at twice the read units. An eventually consistent scan may read an item as it was
   * about a second ago. The scan then does not notice that the item has become a stray.
   * @default true
   */
  consistentRead?: boolean;
  /**
   * Called and awaited after every page, with the current report. Save the `resumePoint` of the report, so that another process
   * can continue after a crash.
   */
  onProgress?(report: Report): void | Promise<void>;
  /**
   * Ends the scan early. The scan sends no more requests, waits for the requests in flight, and returns a report with a
   * `resumePoint`.
   * @default the scan ends at the end of the segment
   */
  signal?: AbortSignal;
  /**
   * The maximum number of attempts of one request, at least 1. If a request is throttled, times out or loses its
   * connection, the scan retries it after a wait with full jitter.
   * @default 10
   */
  attempts?: number;
  /**
   * Upper bound of the wait before the second attempt, in milliseconds, at least 0. The bound doubles with every
   * attempt.
   * @default 50
   */
  backoffBaseMs?: number;
  /**
   * Upper bound of every wait between attempts, in milliseconds, at least 0.
   * @default 20,000
   */
  backoffCapMs?: number;
  /**
   * The clock for the budgets and the waits.
   * @default the system clock
   */
  clock?: Clock;
  /**
   * Returns random numbers in [0, 1) for the jitter of the waits.
   * @default Math.random
   */
  random?: () => number;
}

export interface SegmentPolicy<Report> extends SegmentOptions<Report>, ScanPolicy {
  segment: number;
  totalSegments: number;
  attempts: number;
  backoffBaseMs: number;
  backoffCapMs: number;
  clock: Clock;
  random: () => number;
  consistentRead: boolean;
}

/** @throws InvalidArgumentError if an option is out of its bounds */
export function segmentPolicy<Report>(options: SegmentOptions<Report>): SegmentPolicy<Report> {
  const policy = scanPolicy(options, { backoffBaseMs: 50, backoffCapMs: 20_000 });
  const { readUnitsPerSecond, consistentRead = true } = policy;
  if (readUnitsPerSecond !== undefined) checkPositive('readUnitsPerSecond', readUnitsPerSecond);
  if (typeof consistentRead !== 'boolean') {
    throw new InvalidArgumentError('consistentRead', consistentRead, 'true or false');
  }
  return { ...policy, consistentRead };
}
