import { checkFields, checkNotNegative, checkSignal, checkWhole } from '../kernel/checks';
import { type Clock, systemClock } from '../kernel/clock';
import { InvalidArgumentError } from '../kernel/errors';
import { addToTrail, type PageTrail } from '../kernel/pages';
import { Stopped, throwIfStopped } from '../kernel/pause';
import type { RetryPolicy } from '../kernel/retries';

/** The options of a scan of a segment that do not depend on the store. */
interface ScanOptions {
  segment?: number;
  totalSegments?: number;
  attempts?: number;
  backoffBaseMs?: number;
  backoffCapMs?: number;
  clock?: Clock;
  random?: () => number;
  signal?: AbortSignal;
  onProgress?: unknown;
}

/** The segment and the retries of a scan. */
export interface ScanPolicy extends RetryPolicy {
  segment: number;
  totalSegments: number;
}

/** The maximum number of segments of a scan. Source: the DynamoDB API reference, Scan: TotalSegments. */
const MAX_SEGMENTS = 1_000_000;

const ATTEMPTS = 10;

/**
 * Checks the options of a scan, and sets their defaults.
 *
 * @throws InvalidArgumentError if an option is out of its bounds
 */
export function scanPolicy<Options extends ScanOptions>(
  options: Options,
  defaults: { backoffBaseMs: number; backoffCapMs: number },
): Options & ScanPolicy {
  checkFields('options', options);
  checkSignal(options.signal);
  const policy = {
    ...options,
    segment: options.segment ?? 0,
    totalSegments: options.totalSegments ?? 1,
    attempts: options.attempts ?? ATTEMPTS,
    backoffBaseMs: options.backoffBaseMs ?? defaults.backoffBaseMs,
    backoffCapMs: options.backoffCapMs ?? defaults.backoffCapMs,
    clock: options.clock ?? systemClock,
    random: options.random ?? Math.random,
  };
  checkWhole('totalSegments', policy.totalSegments, 1, MAX_SEGMENTS);
  checkWhole('segment', policy.segment, 0, policy.totalSegments - 1);
  checkWhole('attempts', policy.attempts, 1);
  checkNotNegative('backoffBaseMs', policy.backoffBaseMs);
  checkNotNegative('backoffCapMs', policy.backoffCapMs);
  checkCallback('onProgress', policy.onProgress);
  return policy;
}

/** @throws InvalidArgumentError if the callback is not a function */
export function checkCallback(field: string, callback: unknown): void {
  if (callback === undefined || typeof callback === 'function') return;
  throw new InvalidArgumentError(field, callback, 'a function, or absent');
}

/** The methods of a store that a scan uses. */
interface SegmentStore<Item, Start> {
  /** Reads the page that begins at `start`, or at the beginning of the segment. */
  readPage(start: Start | undefined): Promise<{ items: readonly Item[]; next: Start | undefined }>;
  /** Handles the strays of a page. Returns whether the scan must start again at the beginning of the segment. */
  handlePage(items: readonly Item[]): Promise<boolean>;
}

interface Scan<Report, Start> {
  operation: string;
  start: Start | undefined;
  /** The resume point of a scan that continues at `start`. */
  resumePointAt(start: Start | undefined): string | Promise<string>;
  report: Report;
  policy: { signal?: AbortSignal; onProgress?(report: Report): void | Promise<void> };
}

/**
 * Reads a segment page by page, and handles its strays. The report has a resume point until the segment is complete. An
 * aborted scan returns its report, too.
 */
export async function scanSegment<Item, Start, Report extends { resumePoint?: string }>(
  store: SegmentStore<Item, Start>,
  { operation, start: first, resumePointAt, report, policy: { signal, onProgress } }: Scan<Report, Start>,
): Promise<Report> {
  let trail: PageTrail | undefined;
  try {
    for (let [start, isComplete] = [first, false]; !isComplete; ) {
      throwIfStopped(signal);
      const { items, next } = await store.readPage(start);
      const startsAgain = await store.handlePage(items);
      start = startsAgain ? undefined : next;
      isComplete = start === undefined && !startsAgain;
      const point = await resumePointAt(start);
      trail = start === undefined ? undefined : addToTrail(operation, point, trail);
      if (isComplete) delete report.resumePoint;
      else report.resumePoint = point;
      await onProgress?.(structuredClone(report));
    }
  } catch (error) {
    if (!(error instanceof Stopped)) throw error;
  }
  return report;
}
