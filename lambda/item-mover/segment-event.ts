import { isRecord } from '../../lib/core/kernel/checks';
import type { ReshardItemsReport, StrayReport } from '../../lib/core/sharded-index/strays/stray-report';
import { InvalidEventError } from '../invalid-event-error';

/** The input of the state machine's execution. */
interface ReshardingRequest {
  /** `audit` only counts strays. @default 'reshard' */
  readonly mode?: 'reshard' | 'audit';
}

/** The totals of one segment, over all its invocations. */
interface SegmentTotals {
  itemsScanned: number;
  strays: StrayReport['strays'];
  hidden: number;
  moved: number;
  settled: number;
  refused: number;
  consumedReadUnits: number;
  consumedWriteUnits: number;
}

/**
 * The state of one segment. The state machine sends each response as the next event, as long as the response has a
 * `resumePoint`.
 */
export interface SegmentEvent {
  readonly segment: number;
  readonly totalSegments: number;
  readonly request: ReshardingRequest;
  readonly resumePoint?: string;
  readonly totals?: SegmentTotals;
}

/** @throws InvalidEventError for an event without a valid segment. The state machine never sends such an event */
export function checkSegment(event: SegmentEvent): void {
  const { segment, totalSegments } = Object(event) as SegmentEvent;
  const isSegment = Number.isSafeInteger(segment) && segment >= 0 && segment < totalSegments;
  if (isSegment && Number.isSafeInteger(totalSegments)) return;
  const allowed = 'an event of the state machine, such as {"segment":0,"totalSegments":1,"request":{"mode":"audit"}}';
  throw new InvalidEventError('event', event, allowed);
}

/** The mode of a request. Throws for an unknown mode before any read, so that a misspelled audit does not move items. */
export function modeOf({ request }: SegmentEvent): 'reshard' | 'audit' {
  if (!isRecord(request)) {
    throw new InvalidEventError('request', request, 'an object: {}, or {"mode":"audit"}');
  }
  const unknown = Object.keys(request).find((field) => field !== 'mode');
  if (unknown !== undefined) throw new InvalidEventError('request', unknown, 'an object with only mode');
  const { mode = 'reshard' } = request;
  if (mode !== 'reshard' && mode !== 'audit') throw new InvalidEventError('request.mode', mode, 'reshard or audit');
  return mode;
}

/** The earlier totals plus the report of an invocation. */
export function totalsWith(
  earlier: SegmentTotals | undefined,
  report: StrayReport | ReshardItemsReport,
): SegmentTotals {
  const { moved, settled, refused } = 'outcomes' in report ? report.outcomes : { moved: 0, settled: 0, refused: 0 };
  const { itemsScanned, strays, hidden, consumedReadUnits } = report;
  const consumedWriteUnits = 'consumedWriteUnits' in report ? report.consumedWriteUnits : 0;
  const now = { itemsScanned, strays, hidden, moved, settled, refused, consumedReadUnits, consumedWriteUnits };
  return earlier === undefined ? now : sumOf(earlier, now);
}

/**
 * Adds the numbers of two reports. The function of another release may have written the earlier report, so a field that only
 * one of the reports has is kept.
 */
function sumOf<T extends object>(earlier: T, now: T): T {
  const sums = Object.entries(earlier).map(([name, value]) => {
    const other = now[name as keyof T] as number | object | undefined;
    if (other === undefined) return [name, value];
    return [name, typeof other === 'number' ? value + other : sumOf(value, other)];
  });
  return { ...now, ...Object.fromEntries(sums) };
}
