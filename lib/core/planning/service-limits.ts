/** A limit of AWS that a plan can exceed. */
export interface ServiceLimit {
  /** The limited resource, such as "global secondary indexes of a table". */
  readonly what: string;
  readonly value: number;
  /** Other values of the limit, and where they apply. */
  readonly otherwise?: string;
  /** How to request an increase. Undefined if the limit cannot be increased. */
  readonly increasedBy?: string;
  /** The page of AWS that documents the limit. */
  readonly source: string;
}

/** When the sources were read. */
export const SERVICE_LIMITS_AS_OF = 'November 2026';

const KINESIS_QUOTAS = 'Kinesis developer guide, "Quotas and limits"';
const DYNAMODB_QUOTAS = 'DynamoDB developer guide, "Quotas"';

/** The default limits of the services that this library plans for. */
export const SERVICE_LIMITS = {
  shardsOfAccount: {
    what: 'shards of an account in a Region',
    value: 1_000,
    otherwise: '6,000 in some Regions, and 20,000 in us-east-1, us-west-2 and eu-west-1',
    increasedBy: 'Service Quotas, Amazon Kinesis Data Streams, shards of the Region',
    source: KINESIS_QUOTAS,
  },
  shardsOfStream: {
    what: 'shards of a stream, set by UpdateShardCount',
    value: 10_000,
    source: 'Kinesis API reference, UpdateShardCount',
  },
  shardCountUpdates: {
    what: 'calls of UpdateShardCount for a stream in 24 hours',
    value: 10,
    otherwise: 'each call at most doubles or halves the count',
    source: 'Kinesis API reference, UpdateShardCount',
  },
  shardRecords: {
    what: 'records a second of a shard',
    value: 1_000,
    source: KINESIS_QUOTAS,
  },
  shardBytes: {
    what: 'bytes a second of a shard',
    value: 1_000_000,
    source: KINESIS_QUOTAS,
  },
  enhancedConsumers: {
    what: 'consumers with enhanced fan-out of a stream',
    value: 20,
    otherwise: '50 in On-demand Advantage mode, in some Regions only',
    source: 'Kinesis API reference, RegisterStreamConsumer',
  },
  onDemandWrites: {
    what: 'megabytes a second that writers put into a stream in on-demand mode',
    value: 200,
    otherwise: '10,000 in us-east-1, us-west-2 and eu-west-1',
    increasedBy: 'AWS Support, on-demand write throughput of Amazon Kinesis Data Streams',
    source: KINESIS_QUOTAS,
  },
  onDemandReads: {
    what: 'megabytes a second that consumers without enhanced fan-out read from a stream in on-demand mode',
    value: 400,
    otherwise: '20,000 in us-east-1, us-west-2 and eu-west-1',
    increasedBy: 'AWS Support, on-demand read throughput of Amazon Kinesis Data Streams',
    source: KINESIS_QUOTAS,
  },
  batchesOfShard: {
    what: 'batches of a shard that Lambda processes in parallel (`parallelizationFactor`)',
    value: 10,
    source: 'Lambda API reference, CreateEventSourceMapping',
  },
  partitionWrites: {
    what: 'write units a second of a partition of DynamoDB, or of Amazon Keyspaces',
    value: 1_000,
    source: 'DynamoDB developer guide, "Designing partition keys"',
  },
  partitionReads: {
    what: 'read units a second of a partition of DynamoDB, or of Amazon Keyspaces',
    value: 3_000,
    source: 'DynamoDB developer guide, "Designing partition keys"',
  },
  partitionBytes: {
    what: 'gigabytes of a partition of DynamoDB',
    value: 10,
    otherwise:
      'DynamoDB splits a larger partition, but in a table with a local secondary index it rejects writes that exceed the limit',
    source: 'DynamoDB developer guide, "Local secondary indexes", item collection size limit',
  },
  tableWrites: {
    what: 'write units a second of a table, or of an index',
    value: 40_000,
    increasedBy: 'Service Quotas, Amazon DynamoDB, table-level write throughput',
    source: DYNAMODB_QUOTAS,
  },
  tableReads: {
    what: 'read units a second of a table, or of an index',
    value: 40_000,
    increasedBy: 'Service Quotas, Amazon DynamoDB, table-level read throughput',
    source: DYNAMODB_QUOTAS,
  },
  accountUnits: {
    what: 'read units a second, and write units a second, of all provisioned tables of an account in a Region',
    value: 80_000,
    increasedBy: 'Service Quotas, Amazon DynamoDB, account-level throughput',
    source: DYNAMODB_QUOTAS,
  },
  itemKilobytes: {
    what: 'kilobytes of an item of DynamoDB',
    value: 400,
    otherwise: '1,024 of a row of Amazon Keyspaces',
    source: DYNAMODB_QUOTAS,
  },
  pageKilobytes: {
    what: 'kilobytes that a query of DynamoDB reads for a page',
    value: 1_024,
    source: 'DynamoDB API reference, Query',
  },
  recordBytes: {
    what: 'bytes of a record of a stream, with its partition key',
    value: 10_485_760,
    otherwise: '1,048,576 unless `maxRecordSize` is set',
    source: 'Kinesis API reference, UpdateMaxRecordSize',
  },
  indexesOfTable: {
    what: 'global secondary indexes of a table',
    value: 20,
    increasedBy: 'Service Quotas, Amazon DynamoDB, global secondary indexes of a table',
    source: DYNAMODB_QUOTAS,
  },
} as const satisfies Readonly<Record<string, ServiceLimit>>;

/** A limit of AWS that a plan exceeds. */
export interface ExceededServiceLimit extends ServiceLimit {
  /** The amount that the plan needs. */
  readonly needed: number;
}

/** Compares the amounts that a plan needs with the limits, and returns the limits that the plan exceeds. */
export function exceededLimits(
  needs: Readonly<Partial<Record<keyof typeof SERVICE_LIMITS, number>>>,
): ExceededServiceLimit[] {
  return Object.entries(needs).flatMap(([name, needed]) => {
    const limit: ServiceLimit = SERVICE_LIMITS[name as keyof typeof SERVICE_LIMITS];
    return needed > limit.value ? [{ ...limit, needed }] : [];
  });
}

/** Describes a limit that a plan exceeds, as a sentence without a full stop. */
export function describeExceeded({ what, value, needed, otherwise, increasedBy }: ExceededServiceLimit): string {
  const other = otherwise === undefined ? '' : ` (${otherwise})`;
  const way = increasedBy === undefined ? 'this limit cannot be increased' : `request an increase: ${increasedBy}`;
  return `AWS allows ${value.toLocaleString('en')} ${what}${other}, and the plan needs ${Math.ceil(needed).toLocaleString('en')}: ${way}`;
}
