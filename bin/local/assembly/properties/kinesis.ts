import type { PropertyTable } from './property-table';

export const STREAM: PropertyTable = {
  honoured: ['MaxRecordSizeInKiB', 'Name', 'ShardCount', 'StreamModeDetails.StreamMode'],
  withoutEffect: {
    'a record stays in the stream until the run ends': ['RetentionPeriodHours'],
    'the stream is in memory, without encryption': ['StreamEncryption'],
    'CloudWatch is not emulated': ['DesiredShardLevelMetrics'],
    'only billing and access control use tags': ['Tags'],
    'throughput does not depend on earlier traffic': ['WarmThroughputMiBps'],
  },
  named: {
    'the partition key selects the shard of each record': ['RecordDistributionStrategy'],
  },
  harmless: { RecordDistributionStrategy: 'PARTITION_KEY' },
};

export const STREAM_CONSUMER: PropertyTable = {
  honoured: ['StreamARN'],
  withoutEffect: {
    'a mapping of a consumer reads the stream itself': ['ConsumerName'],
    'only billing and access control use tags': ['Tags'],
  },
  named: {},
};
