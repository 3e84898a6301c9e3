import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AttributeValue, DynamoDB } from '@aws-sdk/client-dynamodb';
import { localClients } from '../../bin/local/emulators/clients';
import { fanOutItems, type ShardedIndexConfig } from '../../lib/core';
import { seededRandom } from '../../lib/testing/seeded-random';
import { indexConfig } from '../support/index-config';
import { LambdaFunction } from '../support/lambda-function';
import { TableStream } from '../support/table-stream';
import { describeOnDynamoDbEmulators } from './dynamodb-emulators';

/**
 * Plain writers beside the bundled function of a keeper. One kind of write saves a whole item. The function reads the stream of the
 * emulator. A proxy throttles requests, lets transactions conflict and drops responses, because the emulator never does so.
 */

const shards = { default: { write: 4, read: 4 } };
const INDEXES: Record<string, ShardedIndexConfig> = {
  byStatus: indexConfig({ shardAttribute: 'statusShard', shards }),
  byTime: indexConfig({
    indexName: 'byTime',
    keyLayout: 'single-attribute',
    shardAttribute: 'timeShard',
    valueAttribute: 'day',
    strategy: 'random',
    shards,
  }),
};
const STATUSES = ['open', 'done', 'failed'];
const DAYS = ['monday', 'tuesday'];
const SHARD_ATTRIBUTES = ['statusShard', 'timeShard'];

const string = (AttributeName: string) => ({ AttributeName, AttributeType: 'S' as const });
const hash = (AttributeName: string) => ({ AttributeName, KeyType: 'HASH' as const });
const range = (AttributeName: string) => ({ AttributeName, KeyType: 'RANGE' as const });

async function createTables(dynamodb: DynamoDB, StreamViewType: 'NEW_AND_OLD_IMAGES' | 'KEYS_ONLY'): Promise<void> {
  await dynamodb.createTable({
    TableName: 'Jobs',
    BillingMode: 'PAY_PER_REQUEST',
    KeySchema: [hash('jobId')],
    AttributeDefinitions: [
      ...['jobId', 'status', 'createdAt', 'timeShard'].map(string),
      { AttributeName: 'statusShard', AttributeType: 'N' },
    ],
    StreamSpecification: { StreamEnabled: true, StreamViewType },
    GlobalSecondaryIndexes: [
      {
        IndexName: 'byStatus',
        KeySchema: [hash('status'), hash('statusShard'), range('createdAt')],
        Projection: { ProjectionType: 'ALL' },
      },
      {
        IndexName: 'byTime',
        KeySchema: [hash('timeShard'), range('createdAt')],
        Projection: { ProjectionType: 'ALL' },
      },
    ],
  });
  await dynamodb.createTable({
    TableName: 'Keeper',
    BillingMode: 'PAY_PER_REQUEST',
    KeySchema: [hash('id'), range('item')],
    AttributeDefinitions: ['id', 'item'].map(string),
  });
}

/** The requests of the keeper to the table of the user. */
interface Seen {
  updates: number;
  reads: number;
  faults: number;
}

/** A proxy between the keeper and the emulator that makes a part of the corrections fail. */
async function startProxy(endpoint: string, random: () => number, seen: Seen): Promise<Server> {
  const server = createServer(async (request, response) => {
    const body = await textOf(request);
    const input = JSON.parse(body);
    const operation = String(request.headers['x-amz-target']).split('.')[1];
    const isOfTable = input.TableName === 'Jobs';
    const fault = isOfTable && operation === 'UpdateItem' ? random() : 1;
    const fail = (name: string) => {
      seen.faults += 1;
      response.writeHead(400, { 'content-type': 'application/x-amz-json-1.0' });
      response.end(JSON.stringify({ __type: `com.amazonaws.dynamodb.v20120810#${name}`, message: 'later' }));
    };
    if (fault < 0.1) return fail('ProvisionedThroughputExceededException');
    if (fault < 0.2) return fail('TransactionConflictException');
    if (isOfTable && operation === 'GetItem') seen.reads += 1;
    const { 'content-length': _, ...headers } = request.headers as Record<string, string>;
    const answer = await fetch(endpoint, { method: 'POST', headers, body });
    if (isOfTable && operation === 'UpdateItem') {
      expectOnlyShards(input);
      if (answer.ok) seen.updates += 1;
      if (fault < 0.25) {
        seen.faults += 1;
        request.socket.destroy();
        return;
      }
    }
    response.writeHead(answer.status, { 'content-type': 'application/x-amz-json-1.0' });
    response.end(await answer.text());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request.setEncoding('utf8')) text += chunk;
  return text;
}

/** A correction changes only shard attributes, of an item that exists. */
function expectOnlyShards(
  input: { [name: string]: string } & { ExpressionAttributeNames: Record<string, string> },
): void {
  const { UpdateExpression = '', ConditionExpression = '', ExpressionAttributeNames: names } = input;
  const changed = [...UpdateExpression.matchAll(/#\w+/g)].map(([name]) => names[name]);
  expect(SHARD_ATTRIBUTES).toEqual(expect.arrayContaining(changed));
  expect(ConditionExpression).toMatch(/^attribute_exists\(/);
}

describeOnDynamoDbEmulators('an index keeper beside plain writers', (emulator) => {
  let endpoint: string;
  let dynamodb: DynamoDB;
  let stop: () => Promise<void>;

  beforeEach(async () => {
    const running = await emulator.start();
    ({ endpoint } = running);
    stop = () => running.stop();
    dynamodb = localClients({ kinesis: endpoint, dynamodb: endpoint, lambda: endpoint }).dynamodb;
  }, 120_000);
  afterEach(async () => {
    dynamodb.destroy();
    await stop();
  });

  test.each(['NEW_AND_OLD_IMAGES', 'KEYS_ONLY'] as const)(
    'with a stream of %s, queries find every item after the last write, with at most 1.1 corrections for each write',
    async (view) => {
      const random = seededRandom(7);
      await createTables(dynamodb, view);
      const seen: Seen = { updates: 0, reads: 0, faults: 0 };
      const proxy = await startProxy(endpoint, seededRandom(11), seen);
      const keeper = await LambdaFunction.start({
        name: 'index-keeper',
        endpoint: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
        environment: {
          EVEN_SHARDS_INDEXES: JSON.stringify(INDEXES),
          EVEN_SHARDS_KEEPER_TABLE_NAME: 'Keeper',
          EVEN_SHARDS_CORRECTS_ITEMS: 'true',
          EVEN_SHARDS_READ_UNITS_PER_SECOND: '1000',
        },
      });
      const stream = await TableStream.of(endpoint, 'Jobs');
      const keep = async (): Promise<number> => {
        let records = 0;
        for await (const batch of stream.batches()) {
          for (let from = 0; from < batch.length; ) {
            const Records = batch.slice(from);
            const { response, error, log } = await keeper.invoke({ Records }, 30_000);
            if (response === undefined) throw new Error(`${error?.message}\n${log}`);
            const [failure] = JSON.parse(response).batchItemFailures;
            from = failure === undefined ? batch.length : from + indexOf(Records, failure.itemIdentifier);
          }
          records += batch.length;
        }
        return records;
      };
      try {
        let writes = 0;
        let isWriting = true;
        const keeping = (async () => {
          while (isWriting || (await keep()) > 0) await keep().then(() => sleep(20));
        })();
        await Promise.all(
          Array.from({ length: 3 }, async () => {
            for (let n = 0; n < 120; n++) {
              await writePlainly(dynamodb, random);
              writes += 1;
            }
          }),
        );
        isWriting = false;
        await keeping;

        const { Items = [] } = await dynamodb.scan({ TableName: 'Jobs', ConsistentRead: true });
        for (const [config, values] of [
          [INDEXES.byStatus!, STATUSES],
          [INDEXES.byTime!, DAYS],
        ] as const) {
          for (const value of values) {
            // An update of a missing item creates an item without the sort key, which no index contains.
            const expected = Items.filter((item) => item[config.valueAttribute!]?.S === value && item.createdAt);
            const found: string[] = [];
            for await (const item of fanOutItems(dynamodb, config, { value })) found.push(textOfId(item));
            expect(found.sort()).toEqual(expected.map(textOfId).sort());
          }
        }
        expect(seen.faults).toBeGreaterThan(20);
        expect(seen.updates).toBeLessThanOrEqual(1.1 * writes);
        if (view === 'NEW_AND_OLD_IMAGES') expect(seen.reads).toBe(0);
      } finally {
        await keeper.stop();
        proxy.closeAllConnections();
        proxy.close();
      }
    },
    180_000,
  );
});

function indexOf(records: readonly object[], sequenceNumber: string): number {
  return records.findIndex(
    (record) => (record as { dynamodb: { SequenceNumber: string } }).dynamodb.SequenceNumber === sequenceNumber,
  );
}

function textOfId({ jobId }: Record<string, AttributeValue>): string {
  return jobId!.S!;
}

/** One write of a program without the code of this library. */
async function writePlainly(dynamodb: DynamoDB, random: () => number): Promise<void> {
  const oneOf = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)]!;
  const Key = { jobId: { S: `job-${Math.floor(random() * 40)}` } };
  const item = {
    ...Key,
    status: { S: oneOf(STATUSES) },
    day: { S: oneOf(DAYS) },
    createdAt: { S: `${Math.floor(random() * 1_000)}` },
  };
  const kind = oneOf(['put', 'put', 'status', 'noStatus', 'delete', 'whole'] as const);
  const names = { '#status': 'status' };
  if (kind === 'put') await dynamodb.putItem({ TableName: 'Jobs', Item: item });
  if (kind === 'delete') await dynamodb.deleteItem({ TableName: 'Jobs', Key });
  if (kind === 'status') {
    await dynamodb.updateItem({
      ...{ TableName: 'Jobs', Key, UpdateExpression: 'SET #status = :status', ExpressionAttributeNames: names },
      ExpressionAttributeValues: { ':status': item.status },
    });
  }
  if (kind === 'noStatus') {
    await dynamodb.updateItem({
      ...{ TableName: 'Jobs', Key, UpdateExpression: 'REMOVE #status', ExpressionAttributeNames: names },
    });
  }
  if (kind === 'whole') {
    const { Item: before } = await dynamodb.getItem({ TableName: 'Jobs', Key, ConsistentRead: true });
    await sleep(5);
    if (before !== undefined) await dynamodb.putItem({ TableName: 'Jobs', Item: { ...before, note: { S: 'saved' } } });
  }
}
