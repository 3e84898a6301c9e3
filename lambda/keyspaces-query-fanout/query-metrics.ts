import { QUERY_METRICS } from '../../lib/core/contract/function-metrics';
import type { FanOutSelectPage } from '../../lib/core/keyspaces/fan-out-select';

/** The metrics of one page. They do not include read units, because CloudWatch has such metrics of the table. */
export function queryMetrics({ rows, missingShards = [], stats }: FanOutSelectPage): Record<string, number> {
  return {
    [QUERY_METRICS.pages]: 1,
    [QUERY_METRICS.requests]: stats.requests,
    [QUERY_METRICS.waves]: stats.waves,
    [QUERY_METRICS.itemsReturned]: rows.length,
    [QUERY_METRICS.itemsRead]: stats.rowsRead,
    ...(rows.length > 0 && { [QUERY_METRICS.overRead]: stats.rowsRead / rows.length }),
    [QUERY_METRICS.throttledRequests]: stats.throttled,
    [QUERY_METRICS.hedgedRequests]: stats.hedged,
    [QUERY_METRICS.missingShards]: missingShards.length,
  };
}
