import type { DynamoDB } from '@aws-sdk/client-dynamodb';
import type { DynamoDbItem } from '../../lib/core';
import { StreamedTable, type StreamView } from '../support/fakes/streamed-table';
import { TableStream } from '../support/table-stream';
import { describeOnDynamoDbEmulators, serviceForTests } from './dynamodb-emulators';

/** Compares the table of the schedules of the index keeper with an emulator, record by record. */

const KEY = { jobId: { S: '1' } };
const item = (status: string, more: DynamoDbItem = {}): DynamoDbItem => ({ ...KEY, status: { S: status }, ...more });
const CORRECTION = {
  TableName: 'Jobs',
  Key: KEY,
  UpdateExpression: 'SET #shard = :shard',
  ConditionExpression: 'attribute_exists(#id) AND #status = :status AND attribute_not_exists(#shard)',
  ExpressionAttributeNames: { '#id': 'jobId', '#status': 'status', '#shard': 'shard' },
  ExpressionAttributeValues: { ':status': { S: 'open' }, ':shard': { N: '3' } },
  ReturnConsumedCapacity: 'TOTAL' as const,
};

type Step = { put: DynamoDbItem } | 'delete' | 'correct';
const STEPS: Step[] = [
  'correct', // of an item that does not exist
  { put: item('open') },
  { put: item('open') }, // changes nothing
  'correct',
  'correct', // of an item that is already correct
  { put: item('done', { shard: { N: '3' } }) },
  'correct', // of an earlier value
  'delete',
  'delete', // of an item that does not exist
  { put: item('open', { data: { B: Buffer.from('bytes') } }) },
  'correct',
];

describeOnDynamoDbEmulators('the fake table with a stream', (emulator) => {
  const service = serviceForTests(emulator.start, { isForEachTest: true });

  test.each<StreamView>(['NEW_IMAGE', 'NEW_AND_OLD_IMAGES', 'OLD_IMAGE', 'KEYS_ONLY'])(
    'has the same records as the emulator with the view type %s',
    async (view) => {
      const { dynamodb, endpoint } = service;
      await dynamodb.createTable({
        TableName: 'Jobs',
        BillingMode: 'PAY_PER_REQUEST',
        KeySchema: [{ AttributeName: 'jobId', KeyType: 'HASH' }],
        AttributeDefinitions: [{ AttributeName: 'jobId', AttributeType: 'S' }],
        StreamSpecification: { StreamEnabled: true, StreamViewType: view },
      });
      const fake = new StreamedTable(['jobId'], view);
      for (const step of STEPS) {
        const outcomes = [await outcomeOf(emulated(dynamodb, step)), await outcomeOf(faked(fake, step))];
        expect(outcomes[1]).toBe(outcomes[0]);
      }
      const records: object[] = [];
      const stream = await TableStream.of(endpoint, 'Jobs');
      for await (const batch of stream.batches()) records.push(...batch);
      expect(fake.records.map(contentOf)).toEqual(records.map(contentOf));
    },
    60_000,
  );
});

async function emulated(dynamodb: DynamoDB, step: Step): Promise<unknown> {
  if (step === 'delete') return dynamodb.deleteItem({ TableName: 'Jobs', Key: KEY });
  if (step === 'correct') return dynamodb.updateItem(CORRECTION);
  return dynamodb.putItem({ TableName: 'Jobs', Item: step.put });
}

async function faked(table: StreamedTable, step: Step): Promise<unknown> {
  if (step === 'delete') return table.delete(KEY);
  if (step === 'correct') return table.updateItem(CORRECTION);
  return table.put(step.put);
}

function outcomeOf(request: Promise<unknown>): Promise<string> {
  return request.then(
    () => 'done',
    (error: Error) => error.name,
  );
}

/** The parts of a record that a keeper uses, without its number and time. */
function contentOf(record: object): object {
  const { eventName, dynamodb } = record as { eventName: string; dynamodb: Record<string, unknown> };
  const { Keys, NewImage, OldImage, StreamViewType } = dynamodb;
  return { eventName, Keys, NewImage, OldImage, StreamViewType };
}
