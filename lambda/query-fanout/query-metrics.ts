import { QUERY_METRICS } from '../../lib/core/contract/function-metrics';
import type { FanOutStats } from '../../lib/core/fan-out/fan-out-stats';
import type { FanOutCount } from '../../lib/core/sharded-index/query/fan-out-count';
import type { FanOutPage } from '../../lib/core/sharded-index/query/fan-out-query';

/** The metrics of one page. */
export function queryMetrics({ items, missingShards = [], stats }: FanOutPage): Record<string, number> {
  return {
    [QUERY_METRICS.pages]: 1,
    [QUERY_METRICS.itemsReturned]: items.length,
    // For an empty page, the value is the number of read items, because a filter removed all of these items.
    ...(stats.itemsRead > 0 && { [QUERY_METRICS.overRead]: stats.itemsRead / Math.max(1, items.length) }),
    ...readMetrics(stats, missingShards),
  };
}

/** The metrics of one count. They contain no page and no returned items. */
export function countMetrics({ missingShards = [], stats }: FanOutCount): Record<string, number> {
  return readMetrics(stats, missingShards);
}

/** The metrics of a response from the cache. `items` is the number of items of a page, or undefined for a count. */
export function cacheHitMetrics(items: number | undefined): Record<string, number> {
  return {
    ...(items !== undefined && { [QUERY_METRICS.pages]: 1, [QUERY_METRICS.itemsReturned]: items }),
    [QUERY_METRICS.cacheHits]: 1,
  };
}

function readMetrics(stats: FanOutStats, missingShards: readonly number[]): Record<string, number> {
  return {
    [QUERY_METRICS.requests]: stats.requests,
    [QUERY_METRICS.waves]: stats.waves,
    [QUERY_METRICS.itemsRead]: stats.itemsRead,
    [QUERY_METRICS.itemsHidden]: stats.itemsHidden,
    [QUERY_METRICS.consumedReadUnits]: stats.consumedReadUnits,
    [QUERY_METRICS.throttledRequests]: stats.throttled,
    [QUERY_METRICS.hedgedRequests]: stats.hedged,
    [QUERY_METRICS.missingShards]: missingShards.length,
  };
}
