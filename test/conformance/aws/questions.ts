import type { DynamoDB } from '@aws-sdk/client-dynamodb';
import type { Kinesis } from '@aws-sdk/client-kinesis';
import type { ShardedIndexConfig } from '../../../lib/core';
import { FakeKinesis, VirtualClock } from '../../../lib/testing';
import { waitUntilActive } from '../../support/active-stream';
import { FakeIndex } from '../../support/fakes/fake-index';
import { shardKey } from '../../support/fakes/fan-out-model';
import { allShards } from '../../support/plays/stream-answers';

/** A request for which only AWS shows the correct response, and the response of the model. */
export interface Question {
  about: string;
  service(): Promise<string>;
  model(): Promise<string>;
}

const THIRD = String(2n ** 128n / 3n);

/** Splits a stream into two shards of unequal size, and updates it to two shards. AWS then creates equal shards. */
function unequalShards(kinesis: Kinesis, StreamName: string): Question {
  const reshard = async (client: Kinesis, settled: () => Promise<unknown>): Promise<string> => {
    await client.splitShard({ StreamName, ShardToSplit: 'shardId-000000000000', NewStartingHashKey: THIRD });
    await settled();
    await client.updateShardCount({ StreamName, TargetShardCount: 2, ScalingType: 'UNIFORM_SCALING' });
    await settled();
    const open = (await allShards(client, StreamName)).filter(
      ({ SequenceNumberRange }) => SequenceNumberRange?.EndingSequenceNumber === undefined,
    );
    return open
      .map(
        ({ ShardId, HashKeyRange }) =>
          `${ShardId?.slice(-2)}: ${HashKeyRange?.StartingHashKey} to ${HashKeyRange?.EndingHashKey}`,
      )
      .join('; ');
  };
  return {
    about: 'UpdateShardCount of unequal shards: which are open at the end, and where do they end?',
    service: () => reshard(kinesis, () => waitUntilActive(kinesis, StreamName)),
    model: () => onFake(StreamName, 2, reshard),
  };
}

/** Splits a closed shard at a key outside its range. */
function closedShard(kinesis: Kinesis, StreamName: string): Question {
  const split = async (client: Kinesis, settled: () => Promise<unknown>): Promise<string> => {
    const middle = String(2n ** 127n);
    await client.splitShard({ StreamName, ShardToSplit: 'shardId-000000000000', NewStartingHashKey: middle });
    await settled();
    const again = client.splitShard({ StreamName, ShardToSplit: 'shardId-000000000000', NewStartingHashKey: '1' });
    return wordsOf(again);
  };
  return {
    about: 'A closed shard that is split at a wrong key: which is looked at first?',
    service: () => split(kinesis, () => waitUntilActive(kinesis, StreamName)),
    model: () => onFake(StreamName, 1, split),
  };
}

/** Updates a stream to more than twice its open shards. */
function tooManyShards(kinesis: Kinesis, StreamName: string): Question {
  const ask = (client: Kinesis) =>
    wordsOf(client.updateShardCount({ StreamName, TargetShardCount: 100, ScalingType: 'UNIFORM_SCALING' }));
  return {
    about: 'UpdateShardCount to more than twice the shards: with what exception is it refused?',
    service: () => ask(kinesis),
    model: () => onFake(StreamName, 2, ask),
  };
}

/**
 * Two requests: a query that finds no items, for its read units, and a query with a start key at its inclusive bound.
 */
function indexQuestions(dynamoDb: DynamoDB, config: ShardedIndexConfig): Question[] {
  const { shard, status } = shardKey('multi-attribute', 0, 4_321);
  const sort = { S: 'a' };
  const query = {
    ...{ TableName: config.tableName, IndexName: config.indexName!, ReturnConsumedCapacity: 'TOTAL' as const },
    KeyConditionExpression: '#shard = :shard AND #status = :status AND #sort <= :sort',
    ExpressionAttributeNames: { '#shard': 'shard', '#status': 'status', '#sort': 'sort' },
    ExpressionAttributeValues: { ':shard': shard!, ':status': status!, ':sort': sort },
    ScanIndexForward: true,
  };
  const start = { ...query, ExclusiveStartKey: { jobId: { S: 'job-1' }, shard: shard!, status: status!, sort } };
  const fake = new FakeIndex(config);
  const units = ({ ConsumedCapacity }: { ConsumedCapacity?: { CapacityUnits?: number } }) =>
    `${ConsumedCapacity?.CapacityUnits} units`;
  return [
    {
      about: 'A query of an index that reads nothing: what does it cost?',
      service: () => dynamoDb.query(query).then(units),
      model: () => fake.query(query).then(units),
    },
    {
      about: 'A start key at the inclusive bound that a query goes to: is it taken?',
      service: () => wordsOf(dynamoDb.query(start)),
      model: () => wordsOf(fake.query(start)),
    },
  ];
}

export function questionsOf(
  clients: { dynamodb: DynamoDB; kinesis: Kinesis },
  { config, unequal, closed }: { config: ShardedIndexConfig; unequal: string; closed: string },
): Question[] {
  return [
    unequalShards(clients.kinesis, unequal),
    closedShard(clients.kinesis, closed),
    tooManyShards(clients.kinesis, closed),
    ...indexQuestions(clients.dynamodb, config),
  ];
}

async function wordsOf(response: Promise<unknown>): Promise<string> {
  return response.then(
    () => 'it is taken',
    ({ name, message }: Error) => `${name}: ${message.replaceAll(/account \d+/g, 'account …')}`,
  );
}

/** Advances the virtual clock during a call of the fake. */
async function onFake(
  streamName: string,
  shardCount: number,
  play: (client: Kinesis, settled: () => Promise<unknown>) => Promise<string>,
): Promise<string> {
  const clock = new VirtualClock();
  const fake = new FakeKinesis({ clock, streamName, shardCount });
  return clock.runUntil(play(fake as unknown as Kinesis, () => clock.sleep(600_000)));
}
