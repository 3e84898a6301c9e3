import type { ReadPolicy } from '../../fan-out/read-policy';
import { checkedQueryClient } from '../client/checked-query-client';
import type { QueryClient } from '../client/query-client';
import { checkShardedConfig } from '../config/check-sharded-config';
import { isConfigSource, type ShardedConfig, type ShardedConfigSource } from '../config/sharded-index-config';
import { decodeCursor } from './cursor';
import { checkFanOutRequest, type FanOutRequest, type RequestedValue } from './fan-out-request';
import { positionOrder } from './position-order';
import type { PieceContext } from './shard-piece';
import { sortKeySelect } from './sort-key-select';

/** A checked request, and the settings that the reads of all shards share. */
export interface CheckedRequest extends PieceContext {
  readonly client: QueryClient;
  readonly config: ShardedConfig;
  readonly request: FanOutRequest;
  readonly values: readonly RequestedValue[];
}

/**
 * Checks a request. The result has the initial configuration of the index, which `withCurrentConfig` replaces with the
 * current configuration.
 *
 * @throws InvalidArgumentError, or one of its subclasses, if the client, the configuration or the request is invalid
 */
export function checkedRequest(
  client: QueryClient,
  index: ShardedConfig | ShardedConfigSource,
  request: FanOutRequest,
): CheckedRequest {
  const checkedClient = checkedQueryClient(client);
  const config = isConfigSource(index) ? index.initial : index;
  // `withCurrentConfig` later checks the configuration that a source returns.
  if (!isConfigSource(index)) checkShardedConfig(config);
  const values = checkFanOutRequest(config, request);
  const { order = 'ascending' } = request;
  const { sortKeyAttributes } = config;
  return {
    client: checkedClient,
    config,
    request,
    values,
    sortKeyAttributes,
    select: sortKeySelect(config, request.sortKey),
    order: positionOrder(order, sortKeyAttributes),
    direction: order === 'descending' ? -1 : 1,
    shardByShard: order === 'unordered',
    cursor: decodeCursor(config, request),
  };
}

/**
 * Reads the current configuration. Returns the request with this configuration, and the policy with the time that remains until
 * the deadline.
 */
export async function withCurrentConfig(
  checked: CheckedRequest,
  index: ShardedConfig | ShardedConfigSource,
  policy: ReadPolicy,
): Promise<{ query: CheckedRequest; policy: ReadPolicy }> {
  if (!isConfigSource(index)) return { query: checked, policy };
  const { deadlineMs, clock } = policy;
  const since = clock.now();
  const names = checked.values.flatMap(({ name }) => name ?? []);
  const config = await index.forReading(deadlineMs, names.length === 0 ? undefined : names);
  checkShardedConfig(config);
  const remainingMs = deadlineMs && Math.max(0, deadlineMs + since - clock.now());
  return { query: { ...checked, config }, policy: { ...policy, deadlineMs: remainingMs } };
}
