import { checkClient } from '../../aws-client/client-check';
import { checkCallback } from '../../sharding/segment-walk';
import { checkShardedConfig } from '../config/check-sharded-config';
import type { ShardedConfig, ShardedConfigSource } from '../config/sharded-index-config';
import { walkItems } from './item-walk';
import { JudgingConfig } from './judging-config';
import { type SegmentOptions, segmentPolicy } from './segment-options';
import type { Stray } from './stray';
import { emptyReport, type StrayReport } from './stray-report';
import type { TableScanClient } from './table-client';
import { TableRequests } from './table-requests';

/** What to look at, and what to do with each stray. */
export interface FindStraysOptions extends SegmentOptions<StrayReport> {
  /**
   * Called with each stray, in the order of the scan, and awaited. A scan that goes on from an earlier resume point can call
   * it again with the same stray.
   * @default strays are only counted
   */
  onStray?(stray: Stray): void | Promise<void>;
}

/**
 * Scans a table, or a segment of it, for items whose shard attribute is not what a writer would give them: because a plain
 * update changed the value, because the table had items before it had the index, or because the shard count has changed. It also
 * finds items that the index does not contain because they lack its sort key. Of a table that is sharded by its own key, it looks for
 * items that are not where a writer would put them. It writes nothing.
 *
 *     const { strays, hidden, resumePoint } = await findStrays(new DynamoDB({}), byStatus, { readUnitsPerSecond: 100 });
 *
 * The report of a segment that was not looked at to its end has a `resumePoint`. An index whose counts grow is judged by the counts
 * of the moment: pass its `AdaptiveIndex`.
 *
 * @throws InvalidArgumentError, or one of its subclasses, before anything is read, if the client, the configuration or an
 *   option is invalid
 * @throws InvalidCursorError if the resume point belongs to another scan
 * @throws StrayScanError if a request fails for good or a callback throws; its report goes on from where it stopped
 */
export async function findStrays(
  client: TableScanClient,
  index: ShardedConfig | ShardedConfigSource,
  options: FindStraysOptions = {},
): Promise<StrayReport> {
  checkClient(client, ['scan']);
  const judging = new JudgingConfig(index);
  checkShardedConfig(judging.initial);
  const policy = segmentPolicy(options);
  checkCallback('onStray', options.onStray);
  const scanned = { purpose: 'find', segment: policy.segment, totalSegments: policy.totalSegments } as const;
  const report = emptyReport();
  const requests = new TableRequests(judging.initial, policy, report);
  const treat = async (stray: Stray) => {
    await options.onStray?.(stray);
    return undefined;
  };
  const walk = { client, scanned, judging, policy, requests, concurrency: 1, treat, report };
  return walkItems(walk, options.resumeFrom);
}
