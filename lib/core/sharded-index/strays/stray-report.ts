import { EvenShardsError } from '../../kernel/errors';
import type { StrayReason } from './stray';

/** What a scan for strays has found so far. The reports of all calls for all segments add up to that of the table. */
export interface StrayReport {
  /**
   * How many items were judged, up to the `resumePoint`. A report of a scan that ended early also counts strays after it
   * that were handled meanwhile, because the next scan does not find them again.
   */
  itemsScanned: number;
  /** How many strays were found, by what is wrong with them. */
  strays: Record<StrayReason, number>;
  /** How many of the strays queries for their value should find and do not. */
  hidden: number;
  /** The read units that DynamoDB reported for the requests that were answered. */
  consumedReadUnits: number;
  /** Pass it as `resumeFrom` to go on. Absent if the segment is complete. */
  resumePoint?: string;
}

/**
 * What a call did with a stray.
 *
 * - `moved`: a request of this call gave the item its shard, or took a left-over shard off it.
 * - `settled`: the item was found in its shard, or gone, when a request had failed. Another writer did that, or an earlier
 * request whose answer was lost. Or the item lacks only the sort key of the index, which no mover can give it.
 * - `refused`: the item is as it was. Its value has no place in the index, its key says too little of it, another item is at its
 * place, or DynamoDB refused the item.
 */
export type StrayOutcome = 'moved' | 'settled' | 'refused';

/** What `reshardItems` has found and done so far. */
export interface ReshardItemsReport extends StrayReport {
  /** How many strays had which outcome. The three numbers add up to the number of all strays. */
  outcomes: Record<StrayOutcome, number>;
  /** The write units, those of the indexes included, that DynamoDB reported for the requests that were answered. */
  consumedWriteUnits: number;
}

/** A report without a finding. */
export function emptyReport(): StrayReport {
  return {
    itemsScanned: 0,
    strays: {
      missing: 0,
      malformed: 0,
      otherValue: 0,
      outOfRange: 0,
      misplaced: 0,
      leftOver: 0,
      invalidValue: 0,
      noSortKey: 0,
    },
    hidden: 0,
    consumedReadUnits: 0,
  };
}

/**
 * A scan for strays ended early, because a request failed for good or a callback threw. The report says what was done, and
 * its `resumePoint` goes on from there.
 */
export class StrayScanError<Report extends StrayReport = StrayReport> extends EvenShardsError {
  readonly #report: Report;

  constructor(report: Report, cause: unknown) {
    const { message, name } = cause instanceof Error ? cause : new Error(String(cause));
    const summary = `the scan stopped after ${report.itemsScanned} items`;
    super('STRAY_SCAN_FAILED', `${summary}: ${message}`, { cause, summary: `${summary}: ${name}` });
    this.#report = report;
  }

  /** What was done before the failure. No logger writes it unless it is asked to: its resume point holds a key. */
  get report(): Report {
    return this.#report;
  }
}
