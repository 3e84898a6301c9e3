import { type FanOutReadOptions, readPolicy } from '../../foundation/fan-out/read-policy';
import { isConfigSource, type ShardedConfig, type ShardedConfigSource } from './sharded-index-config';

/** The configuration by which a read begins, and the options for the time that is left then. */
export async function configOfTheMoment<O extends FanOutReadOptions>(
  index: ShardedConfig | ShardedConfigSource,
  options: O,
): Promise<{ config: ShardedConfig; left: O }> {
  if (!isConfigSource(index)) return { config: index, left: options };
  const { deadlineMs, clock } = readPolicy(options);
  const since = clock.now();
  const config = await index.forReading(deadlineMs);
  if (!deadlineMs) return { config, left: options };
  return { config, left: { ...options, deadlineMs: Math.max(0, deadlineMs + since - clock.now()) } };
}
