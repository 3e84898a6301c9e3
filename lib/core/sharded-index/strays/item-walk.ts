import type { DynamoDbItem } from '../../aws-client/attribute-value';
import { Stopped, throwIfStopped } from '../../kernel/pause';
import { walkSegment } from '../../sharding/segment-walk';
import type { ShardedConfig } from '../config/sharded-index-config';
import { strayOf } from './judge';
import type { JudgingConfig } from './judging-config';
import type { SegmentPolicy } from './segment-options';
import { decodePoint, encodePoint, type ScannedSegment } from './segment-point';
import type { Stray } from './stray';
import { type StrayReport, StrayScanError } from './stray-report';
import type { TableScanClient } from './table-client';
import type { TableRequests } from './table-requests';

/** A scan of one segment, and how its strays are handled. */
interface ItemWalk<Report extends StrayReport> {
  client: TableScanClient;
  scanned: ScannedSegment;
  judging: JudgingConfig;
  policy: SegmentPolicy<Report>;
  requests: TableRequests;
  /** How many strays are handled in parallel. */
  concurrency: number;
  /**
   * Handles a stray. Returns a function that reports the result to the caller. The scan calls this function even if the
   * scan is stopping, because a later scan would not find the settled stray.
   */
  treat(stray: Stray, judgedBy: ShardedConfig): Promise<(() => unknown) | undefined>;
  report: Report;
}

/**
 * Reads a segment page by page, and handles its strays. The scan follows the table key, which does not depend on the
 * shard. So it reads every item that stays in the table exactly once, even if it stops and resumes. If a count
 * decreases during the scan, the scan starts again: an item in a right shard of the larger count may now be in a shard
 * that must become empty.
 *
 * @param resumeFrom the resume point of an earlier scan
 * @throws InvalidCursorError if the resume point belongs to another scan
 * @throws StrayScanError if a request fails permanently or a callback throws
 */
export async function walkItems<Report extends StrayReport>(
  walk: ItemWalk<Report>,
  resumeFrom: unknown,
): Promise<Report> {
  const { client, scanned, judging, policy, requests, report } = walk;
  const config = await judging.ofTheMoment();
  const start = decodePoint(scanned, config, resumeFrom);
  report.resumePoint = encodePoint(scanned, config, start);
  const store = {
    readPage: async (from: DynamoDbItem | undefined) => {
      const { Items, LastEvaluatedKey } = await requests.scan(client, from);
      return { items: Items as DynamoDbItem[], next: (LastEvaluatedKey ?? undefined) as DynamoDbItem | undefined };
    },
    treatPage: async (items: readonly DynamoDbItem[]) => {
      await treatPage(walk, items, await judging.ofTheMoment());
      await judging.ofTheMoment();
      return judging.takeFall();
    },
  };
  const pointOf = async (from: DynamoDbItem | undefined) => encodePoint(scanned, judging.latest, from);
  try {
    return await walkSegment(store, { operation: 'Scan', start, pointOf, report, policy });
  } catch (error) {
    throw new StrayScanError(report, error);
  }
}

/**
 * Handles the strays of a page. If it stops early, the resume point is before the first stray that was not handled.
 */
async function treatPage<Report extends StrayReport>(
  { scanned, judging, policy, concurrency, treat, report }: ItemWalk<Report>,
  items: readonly DynamoDbItem[],
  judgedBy: ShardedConfig,
): Promise<void> {
  const open = new Map<number, Stray>();
  for (const [place, item] of items.entries()) {
    const stray = strayOf(judgedBy, item);
    if (stray !== undefined) open.set(place, stray);
  }
  const queue = open.entries();
  const failures: unknown[] = [];
  const work = async (): Promise<void> => {
    for (const [place, stray] of queue) {
      if (failures.length > 0) return;
      try {
        throwIfStopped(policy.signal);
        const tell = await treat(stray, judgedBy);
        report.strays[stray.reason] += 1;
        if (stray.hidden) report.hidden += 1;
        open.delete(place);
        await tell?.();
      } catch (error) {
        failures.push(error);
        return;
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(concurrency, open.size) }, work));
  const [end = items.length] = open.keys();
  report.itemsScanned += end;
  if (failures.length === 0) return;
  if (end > 0) report.resumePoint = encodePoint(scanned, judgedBy, items[end - 1]);
  // The earlier pages were checked against the larger count.
  if (judging.takeFall()) report.resumePoint = encodePoint(scanned, judgedBy, undefined);
  throw failures.find((error) => !(error instanceof Stopped)) ?? failures[0];
}
