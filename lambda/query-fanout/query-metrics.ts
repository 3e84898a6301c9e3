import { QUERY_METRICS } from '../../lib/core/foundation/function-metrics';
import type { FanOutPage } from '../../lib/core/sharded-index/fan-out-query';

/** The metrics of one page. */
export function queryMetrics({ items, missingShards = [], stats }: FanOutPage): Record<string, number> {
  return {
    [QUERY_METRICS.pages]: 1,
    [QUERY_METRICS.requests]: stats.requests,
    [QUERY_METRICS.waves]: stats.waves,
    [QUERY_METRICS.itemsReturned]: items.length,
    [QUERY_METRICS.itemsRead]: stats.itemsRead,
    [QUERY_METRICS.consumedReadUnits]: stats.consumedReadUnits,
    ...(items.length > 0 && { [QUERY_METRICS.overRead]: stats.itemsRead / items.length }),
    [QUERY_METRICS.throttledRequests]: stats.throttled,
    [QUERY_METRICS.hedgedRequests]: stats.hedged,
    [QUERY_METRICS.missingShards]: missingShards.length,
  };
}
