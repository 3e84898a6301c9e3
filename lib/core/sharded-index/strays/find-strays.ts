import { checkClient } from '../../aws-client/client-check';
import { checkCallback } from '../../sharding/segment-scan';
import { checkShardedConfig } from '../config/check-sharded-config';
import type { ShardedConfig, ShardedConfigSource } from '../config/sharded-index-config';
import { CurrentConfig } from './current-config';
import { scanItems } from './item-scan';
import { type SegmentOptions, segmentPolicy } from './segment-options';
import type { Stray } from './stray';
import { emptyReport, type StrayReport } from './stray-report';
import type { TableScanClient } from './table-client';
import { TableRequests } from './table-requests';

/** The part of the table to scan, and a callback for each stray. */
export interface FindStraysOptions extends SegmentOptions<StrayReport> {
  /**
   * Called and awaited for each stray, in the order of the scan. A resumed scan can report a stray again.
   * @default strays are only counted
   */
  onStray?(stray: Stray): void | Promise<void>;
}

/**
 * Scans a table, or a segment of a table, for strays. The scan changes no items. It finds:
 *
 * - An item whose shard attribute differs from the shard attribute that a writer would give the item. The cause is an update
 *   without `shardUpdate`, an item that is older than the index, or a change of the shard count.
 * - An item that the index does not contain, because the item lacks the sort key of the index.
 * - An item at a wrong place in a table that is sharded by its own key.
 *
 * If the scan ends before the end of its segment, the report has a `resumePoint`. For an index with adaptive counts, pass its
 * `AdaptiveIndex`: the scan then uses the current counts.
 *
 *     const { strays, hidden, resumePoint } = await findStrays(new DynamoDB({}), byStatus, { readUnitsPerSecond: 100 });
 *
 * @throws InvalidArgumentError, or one of its subclasses, before anything is read, if the client, the configuration or an
 *   option is invalid
 * @throws InvalidCursorError if the resume point belongs to another scan
 * @throws StrayScanError if a request fails permanently or a callback throws; its report has a `resumePoint`
 */
export async function findStrays(
  client: TableScanClient,
  index: ShardedConfig | ShardedConfigSource,
  options: FindStraysOptions = {},
): Promise<StrayReport> {
  checkClient(client, ['scan']);
  const current = new CurrentConfig(index);
  checkShardedConfig(current.initial);
  const policy = segmentPolicy(options);
  checkCallback('onStray', options.onStray);
  const scanned = { purpose: 'find', segment: policy.segment, totalSegments: policy.totalSegments } as const;
  const report = emptyReport();
  const requests = new TableRequests(current.initial, policy, report);
  const handle = async (stray: Stray) => {
    await options.onStray?.(stray);
    return undefined;
  };
  const scan = { client, scanned, current, policy, requests, concurrency: 1, handle, report };
  return scanItems(scan, options.resumeFrom);
}
