import type { DynamoDB } from '@aws-sdk/client-dynamodb';
import type { Shard } from '@aws-sdk/client-kinesis';
import type { KinesisRecord, StreamClient } from '../../stream-shards/shard-reader';
import { APIS, Service } from '../emulators/gated-service';
import type { JsonItem } from '../json-item';

/**
 * Reads the stream of a table as a stream of Kinesis. `StreamName` is the name of the table. The partition key of a
 * record is the key of its item, and the data is the record of an event, as JSON.
 */
export function tableStreamClient(dynamodb: DynamoDB, endpoint: string): StreamClient {
  const { hostname: host, port } = new URL(endpoint);
  const service = new Service(APIS.tableStreams, { host, port });
  const call = async (operation: string, input: object): Promise<JsonItem> => {
    const { status, output } = await service.call(operation, input);
    if (status === 200) return output;
    throw Object.assign(new Error(output.message), { name: String(output.__type).split('#').at(-1) });
  };
  const arns = new Map<string, string>();
  const arnOf = async (TableName: string): Promise<string> => {
    const arn = arns.get(TableName) ?? (await dynamodb.describeTable({ TableName })).Table!.LatestStreamArn!;
    arns.set(TableName, arn);
    return arn;
  };
  return {
    listShards: async ({ StreamName }) => {
      const StreamArn = await arnOf(StreamName!);
      const Shards: Shard[] = [];
      for (let ExclusiveStartShardId: string | undefined; ; ) {
        const { StreamDescription } = await call('DescribeStream', { StreamArn, ExclusiveStartShardId });
        Shards.push(...StreamDescription.Shards);
        ExclusiveStartShardId = StreamDescription.LastEvaluatedShardId;
        if (ExclusiveStartShardId === undefined) return { Shards, $metadata: {} };
      }
    },
    getShardIterator: async ({ StreamName, ShardId, ShardIteratorType: type, StartingSequenceNumber }) => {
      // The stream of a table has no AT_TIMESTAMP. The records of the whole stream contain the requested records.
      const ShardIteratorType = type === 'AT_TIMESTAMP' ? 'TRIM_HORIZON' : type;
      const StreamArn = await arnOf(StreamName!);
      const input = { StreamArn, ShardId, ShardIteratorType, SequenceNumber: StartingSequenceNumber };
      const { ShardIterator } = await call('GetShardIterator', input);
      // The responses of GetRecords do not have the name of the table.
      return { ShardIterator: `${StreamName} ${ShardIterator}`, $metadata: {} };
    },
    getRecords: async ({ ShardIterator: given, Limit }) => {
      const [table, ShardIterator] = given!.split(' ') as [string, string];
      const { Records, NextShardIterator } = await call('GetRecords', { ShardIterator, Limit });
      const eventSourceARN = await arnOf(table);
      return {
        Records: Records.map((record: JsonItem) => recordOf({ ...record, eventSourceARN })),
        NextShardIterator: NextShardIterator && `${table} ${NextShardIterator}`,
        $metadata: {},
      };
    },
  };
}

/** A record of a table, in the form of a Kinesis record. */
export function recordOf(record: JsonItem): KinesisRecord {
  const { Keys, SequenceNumber, ApproximateCreationDateTime } = record.dynamodb;
  return {
    PartitionKey: JSON.stringify(Object.entries(Keys).sort()),
    Data: Buffer.from(JSON.stringify(record)),
    SequenceNumber,
    ApproximateArrivalTimestamp: new Date(1_000 * ApproximateCreationDateTime),
  };
}
