import { checkPositive } from '../../kernel/checks';
import type { Clock } from '../../kernel/clock';
import { InvalidArgumentError } from '../../kernel/errors';
import { type WalkPolicy, walkPolicy } from '../../sharding/segment-walk';
import type { StrayReport } from './stray-report';

/** Which part of a table to scan, and how fast. */
export interface SegmentOptions<Report = StrayReport> {
  /**
   * Which of the segments to look at, from 0 to `totalSegments` - 1. Several processes can scan the segments of a table at
   * the same time.
   * @default 0
   */
  segment?: number;
  /**
   * How many segments the table is divided into, from 1 to 1,000,000. DynamoDB divides the key space evenly.
   * @default 1, so one walk goes over the whole table
   */
  totalSegments?: number;
  /**
   * The `resumePoint` of an earlier report: the scan goes on where that one stopped. It belongs to the same function, the
   * same index with the same shard counts, and the same segment.
   * @default the beginning of the segment
   */
  resumeFrom?: string;
  /**
   * The most read units to consume a second, a number greater than 0. A scan reads whole items, whatever it returns.
   * @default no limit: the next page is read when the last one is done
   */
  readUnitsPerSecond?: number;
  /**
   * Whether every item is read as it is at that moment, at twice the read units. Without it, a scan may read an item as it
   * was about a second ago, and overlook that it has become a stray since.
   * @default true
   */
  consistentRead?: boolean;
  /**
   * Called after every page with the report so far, and awaited. Keep its `resumePoint`: after a crash, another process can
   * go on from there.
   */
  onProgress?(report: Report): void | Promise<void>;
  /**
   * Ends the scan early. Nothing more is sent, what is in flight is awaited, and the report has a `resumePoint`.
   * @default the scan goes on to the end of the segment
   */
  signal?: AbortSignal;
  /**
   * The most attempts at one request, at least 1. A request that is throttled, times out or loses its connection is sent
   * again after a wait with full jitter.
   * @default 10
   */
  attempts?: number;
  /**
   * Upper bound of the wait before the second attempt, in milliseconds, at least 0. It doubles with every attempt.
   * @default 50
   */
  backoffBaseMs?: number;
  /**
   * Upper bound of every wait between attempts, in milliseconds, at least 0.
   * @default 20,000
   */
  backoffCapMs?: number;
  /**
   * The clock for the budgets and for waits.
   * @default the clock of the system
   */
  clock?: Clock;
  /**
   * A source of numbers in [0, 1), for the jitter of the waits.
   * @default Math.random
   */
  random?: () => number;
}

/** Segment options after the check. */
export interface SegmentPolicy<Report> extends SegmentOptions<Report>, WalkPolicy {
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
  const policy = walkPolicy(options, { backoffBaseMs: 50, backoffCapMs: 20_000 });
  const { readUnitsPerSecond, consistentRead = true } = policy;
  if (readUnitsPerSecond !== undefined) checkPositive('readUnitsPerSecond', readUnitsPerSecond);
  if (typeof consistentRead !== 'boolean') {
    throw new InvalidArgumentError('consistentRead', consistentRead, 'true or false');
  }
  return { ...policy, consistentRead };
}
