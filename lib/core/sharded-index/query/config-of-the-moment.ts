import { type FanOutReadOptions, readPolicy } from '../../fan-out/read-policy';
import { isConfigSource, type ShardedConfig, type ShardedConfigSource } from '../config/sharded-index-config';
import { checkFanOutRequest, type FanOutRequest, plainValue } from './fan-out-request';

/**
 * The configuration by which a read begins, and the options for the time that is left then.
 *
 * @throws InvalidArgumentError, or one of its subclasses, for values that cannot be read, before the source is asked
 */
export async function configOfTheMoment<O extends FanOutReadOptions>(
  index: ShardedConfig | ShardedConfigSource,
  request: FanOutRequest,
  options: O,
): Promise<{ config: ShardedConfig; left: O }> {
  if (!isConfigSource(index)) return { config: index, left: options };
  const { deadlineMs, clock } = readPolicy(options);
  checkFanOutRequest(index.initial, request);
  const { value, values = value === undefined ? undefined : [value] } = request;
  const since = clock.now();
  const config = await index.forReading(deadlineMs, values?.map(plainValue));
  if (!deadlineMs) return { config, left: options };
  return { config, left: { ...options, deadlineMs: Math.max(0, deadlineMs + since - clock.now()) } };
}
