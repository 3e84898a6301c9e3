import { honouredProperties } from './ignored-properties';
import type { Declared } from './left-out';
import { arnAndName, integerOf, type LocalResource } from './local-resource';

export interface LocalStream extends LocalResource {
  readonly mode: 'PROVISIONED' | 'ON_DEMAND';
  /**
   * The number of shards at creation. Absent for an on-demand stream, because the service chooses its number of shards.
   */
  readonly shardCount?: number;
  /** The maximum record size. Absent if the template does not set it. */
  readonly maxRecordKibibytes?: number;
}

/** Sources: the Kinesis developer guide, "Quotas and limits"; the Kinesis API reference, CreateStream. */
const SHARDS = [1, 20_000] as const;
const RECORD_KIBIBYTES = [1_024, 10_240] as const;

export function plannedStream(declared: Declared): LocalStream {
  const { MaxRecordSizeInKiB, ShardCount, StreamModeDetails } = honouredProperties(declared);
  const onDemand = (StreamModeDetails as { StreamMode?: string } | undefined)?.StreamMode === 'ON_DEMAND';
  return {
    ...arnAndName(declared),
    ...(onDemand
      ? { mode: 'ON_DEMAND' }
      : { mode: 'PROVISIONED', shardCount: integerOf('ShardCount', ShardCount ?? 1, SHARDS) }),
    ...(MaxRecordSizeInKiB !== undefined && {
      maxRecordKibibytes: integerOf('MaxRecordSizeInKiB', MaxRecordSizeInKiB, RECORD_KIBIBYTES),
    }),
  };
}
