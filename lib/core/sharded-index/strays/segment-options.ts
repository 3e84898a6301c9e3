import { type Clock, systemClock } from '../../kernel/clock';
import { InvalidArgumentError } from '../../kernel/errors';
import type { StrayReport } from './stray-report';

/** Which part of a table to scan, and how fast. */
export interface SegmentOptions<Report extends StrayReport = StrayReport> {
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

/** Source: the DynamoDB API reference, Scan: TotalSegments. */
const MAX_SEGMENTS = 1_000_000;

type Optional = 'resumeFrom' | 'readUnitsPerSecond' | 'onProgress' | 'signal';

/** Segment options after the check, with a value for every option that has a default. */
export type SegmentPolicy<Report extends StrayReport> = Required<Omit<SegmentOptions<Report>, Optional>> &
  Pick<SegmentOptions<Report>, Optional>;

/** @throws InvalidArgumentError if an option is out of its bounds */
export function segmentPolicy<Report extends StrayReport>(options: SegmentOptions<Report>): SegmentPolicy<Report> {
  if (typeof options !== 'object' || options === null) throw new InvalidArgumentError('options', options, 'an object');
  const policy = {
    ...options,
    segment: options.segment ?? 0,
    totalSegments: options.totalSegments ?? 1,
    consistentRead: options.consistentRead ?? true,
    attempts: options.attempts ?? 10,
    backoffBaseMs: options.backoffBaseMs ?? 50,
    backoffCapMs: options.backoffCapMs ?? 20_000,
    clock: options.clock ?? systemClock,
    random: options.random ?? Math.random,
  };
  const { totalSegments } = policy;
  checkWholeNumber('totalSegments', totalSegments, 1, MAX_SEGMENTS);
  checkWholeNumber('segment', policy.segment, 0, totalSegments - 1);
  checkWholeNumber('attempts', policy.attempts, 1);
  checkUnitsPerSecond('readUnitsPerSecond', policy.readUnitsPerSecond);
  for (const field of ['backoffBaseMs', 'backoffCapMs'] as const) {
    if (Number.isFinite(policy[field]) && policy[field] >= 0) continue;
    throw new InvalidArgumentError(field, policy[field], 'a number of milliseconds of at least 0');
  }
  checkCallback('onProgress', policy.onProgress);
  if (typeof policy.consistentRead !== 'boolean') {
    throw new InvalidArgumentError('consistentRead', policy.consistentRead, 'true or false');
  }
  return policy;
}

/** @throws InvalidArgumentError unless the value is a whole number within the bounds */
export function checkWholeNumber(field: string, value: number, least: number, most?: number): void {
  if (Number.isSafeInteger(value) && value >= least && value <= (most ?? Number.MAX_SAFE_INTEGER)) return;
  const allowed = most === undefined ? `of at least ${least}` : `from ${least} to ${most}`;
  throw new InvalidArgumentError(field, value, `a whole number ${allowed}`);
}

/** @throws InvalidArgumentError unless the budget is absent or a number greater than 0 */
export function checkUnitsPerSecond(field: string, value: number | undefined): void {
  if (value === undefined || (Number.isFinite(value) && value > 0)) return;
  throw new InvalidArgumentError(field, value, 'a number of units a second that is greater than 0, or absent');
}

/** @throws InvalidArgumentError unless the callback is absent or a function */
export function checkCallback(field: string, callback: unknown): void {
  if (callback === undefined || typeof callback === 'function') return;
  throw new InvalidArgumentError(field, callback, 'a function, or absent');
}
