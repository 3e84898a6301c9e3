import { EvenShardsError } from '../../kernel/errors';
import type { StrayReason } from './stray';

/**
 * The result of a scan for strays. The sum of the reports of all calls for all segments is the result for the table.
 */
export interface StrayReport {
  /**
   * The number of items before the `resumePoint`. If a scan ends early, the other numbers also count the strays after the
   * `resumePoint` that were already handled, because the next scan does not find these strays again.
   */
  itemsScanned: number;
  /** The number of strays, by reason. */
  strays: Record<StrayReason, number>;
  /** The number of hidden strays: a query for the value of a hidden stray does not find the stray. */
  hidden: number;
  /** The read units that DynamoDB reported in its responses. */
  consumedReadUnits: number;
  /** The position where the scan stopped. Pass it as `resumeFrom` to continue the scan. Absent if the segment is complete. */
  resumePoint?: string;
}

/**
 * The outcome for a stray.
 *
 * - `moved`: a request of this call gave the item its shard, or removed a left-over shard attribute.
 * - `settled`: there was nothing to move. After a failed request, the item was in its shard or deleted, because of another
 *   writer or an earlier request whose response was lost. Or the item lacks only the sort key of the index, which only the
 *   application can write.
 * - `refused`: the item is not moved, because its value cannot be in the index, its key does not determine its place, another
 *   item is at its place, or DynamoDB rejected the request. If the item still had the shard attribute of an earlier value, the
 *   shard attribute is removed. So a query for the earlier value does not find the item.
 */
export type StrayOutcome = 'moved' | 'settled' | 'refused';

/** The result of `reshardItems`. */
export interface ReshardItemsReport extends StrayReport {
  /** The number of strays by outcome. The sum of the three numbers is the number of all strays. */
  outcomes: Record<StrayOutcome, number>;
  /** The write units that DynamoDB reported in its responses, including the write units of the indexes. */
  consumedWriteUnits: number;
}

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
 * A scan for strays ended early, because a request failed permanently or a callback threw. To continue the scan, pass
 * the `resumePoint` of its `report`.
 */
export class StrayScanError<Report extends StrayReport = StrayReport> extends EvenShardsError {
  readonly #report: Report;

  constructor(report: Report, cause: unknown) {
    const { message, name } = cause instanceof Error ? cause : new Error(String(cause));
    const summary = `the scan stopped after ${report.itemsScanned} items`;
    super('STRAY_SCAN_FAILED', `${summary}: ${message}`, { cause, summary: `${summary}: ${name}` });
    this.#report = report;
  }

  /**
   * The result before the failure. This field is a getter, so that loggers do not print the report: the resume point contains a
   * key of the table.
   */
  get report(): Report {
    return this.#report;
  }
}
