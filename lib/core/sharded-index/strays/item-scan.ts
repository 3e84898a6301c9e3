import type { DynamoDbItem } from '../../aws-client/attribute-value';
import { inParallel } from '../../kernel/in-parallel';
import { Stopped, throwIfStopped } from '../../kernel/pause';
import { scanSegment } from '../../sharding/segment-scan';
import type { ShardedConfig } from '../config/sharded-index-config';
import type { CurrentConfig } from './current-config';
import type { SegmentPolicy } from './segment-options';
import { decodePoint, encodePoint, type ScannedSegment } from './segment-point';
import type { Stray } from './stray';
import { strayOf } from './stray-of';
import { type StrayReport, StrayScanError } from './stray-report';
import type { TableScanClient } from './table-client';
import type { TableRequests } from './table-requests';

interface ItemScan<Report extends StrayReport> {
  client: TableScanClient;
  scanned: ScannedSegment;
  current: CurrentConfig;
  policy: SegmentPolicy<Report>;
  requests: TableRequests;
  concurrency: number;
  /**
   * Handles a stray. Returns a function that reports the result to the caller. The scan calls this function even if the
   * scan is stopping, because a later scan would not find the settled stray.
   */
  handle(stray: Stray, checkedWith: ShardedConfig): Promise<(() => unknown) | undefined>;
  report: Report;
}

/**
 * Reads a segment page by page, and handles its strays. The position of the scan is a table key. So the scan reads every item
 * exactly once, unless the table key of the item changes, even if the scan stops and resumes. If a count decreases during the
 * scan, the scan starts again: an item that was in a right shard under the larger count may now be in a shard that must become
 * empty.
 *
 * @param resumeFrom the resume point of an earlier scan
 * @throws InvalidCursorError if the resume point belongs to another scan
 * @throws StrayScanError if a request fails permanently or a callback throws
 */
export async function scanItems<Report extends StrayReport>(
  scan: ItemScan<Report>,
  resumeFrom: unknown,
): Promise<Report> {
  const { client, scanned, current, policy, requests, report } = scan;
  const config = await current.read();
  const start = decodePoint(scanned, config, resumeFrom);
  report.resumePoint = encodePoint(scanned, config, start);
  const store = {
    readPage: async (from: DynamoDbItem | undefined) => {
      const { Items, LastEvaluatedKey } = await requests.scan(client, from);
      return { items: Items as DynamoDbItem[], next: (LastEvaluatedKey ?? undefined) as DynamoDbItem | undefined };
    },
    handlePage: async (items: readonly DynamoDbItem[]) => {
      await handlePage(scan, items, await current.read());
      await current.read();
      return current.takeDecrease();
    },
  };
  const resumePointAt = async (from: DynamoDbItem | undefined) => encodePoint(scanned, current.latest, from);
  try {
    return await scanSegment(store, { operation: 'Scan', start, resumePointAt, report, policy });
  } catch (error) {
    throw new StrayScanError(report, error);
  }
}

/** Handles the strays of a page. If the scan stops early, the resume point is before the first stray that was not handled. */
async function handlePage<Report extends StrayReport>(
  { scanned, current, policy, concurrency, handle, report }: ItemScan<Report>,
  items: readonly DynamoDbItem[],
  checkedWith: ShardedConfig,
): Promise<void> {
  const unhandled = new Map<number, Stray>();
  for (const [place, item] of items.entries()) {
    const stray = strayOf(checkedWith, item);
    if (stray !== undefined) unhandled.set(place, stray);
  }
  const failures: unknown[] = [];
  const work = async ([place, stray]: [number, Stray]): Promise<void> => {
    try {
      throwIfStopped(policy.signal);
      const notify = await handle(stray, checkedWith);
      report.strays[stray.reason] += 1;
      if (stray.hidden) report.hidden += 1;
      unhandled.delete(place);
      await notify?.();
    } catch (error) {
      failures.push(error);
    }
  };
  await inParallel(unhandled, concurrency, work, () => failures.length > 0);
  const [end = items.length] = unhandled.keys();
  report.itemsScanned += end;
  if (failures.length === 0) return;
  if (end > 0) report.resumePoint = encodePoint(scanned, checkedWith, items[end - 1]);
  // Start again, because the earlier pages were checked against the larger count.
  if (current.takeDecrease()) report.resumePoint = encodePoint(scanned, checkedWith, undefined);
  throw failures.find((error) => !(error instanceof Stopped)) ?? failures[0];
}
