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
  /** How many strays are handled at once. */
  concurrency: number;
  /**
   * Handles a stray. Returns a function that reports the result, which is called even if the scan ends: a later scan does
   * not find a stray that is settled.
   */
  treat(stray: Stray, judgedBy: ShardedConfig): Promise<(() => unknown) | undefined>;
  report: Report;
}

/**
 * Reads a segment page by page, and handles its strays. The scan follows the table key, which does not change with the
 * shard. So it meets every item that stays in the table exactly once, wherever it stops and goes on. If a count falls
 * meanwhile, the scan begins again: an item that had the right shard by the larger count may now be in a shard that must
 * become empty.
 *
 * @param resumeFrom where the scan begins
 * @throws InvalidCursorError if that belongs to another scan
 * @throws StrayScanError if a request fails for good or a callback throws
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
 * Handles the strays of a page. If this ends early, the resume point covers the items up to the first stray that was not
 * handled.
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
  // The earlier pages were judged by the larger count.
  if (judging.takeFall()) report.resumePoint = encodePoint(scanned, judgedBy, undefined);
  throw failures.find((error) => !(error instanceof Stopped)) ?? failures[0];
}
