import {
  AdaptiveIndex,
  type AttributeValue,
  DynamoDbParkingStore,
  DynamoDbRegistryStore,
  DynamoDbShardCountReader,
  fanOutCount,
  fanOutQuery,
  fanOutSelect,
  findStrays,
  MemoryParkingStore,
  NewerFormatError,
  OrderedConsumer,
  parseFence,
  shardAttributes,
} from '../../../../lib/core';
import { reportOf } from '../../../../lib/core/adaptive-counts/write-report-table';
import { partOf } from '../../../../lib/core/consumer/parking-marks';
import { checkFormat } from '../../../../lib/core/kernel/format-version';
import { parseDeploymentMark } from '../../../../lib/core/resharding/deployment-mark';
import { parseUpdateHistory } from '../../../../lib/core/resharding/update-history';
import { fenceData } from '../../../../lib/core/stream-format/fence';
import { parseSequenceText } from '../../../../lib/core/stream-format/record-sequence';
import { SHARDED_INDEXES, shardingMetadata } from '../../../../lib/deployment-check/sharding-metadata';
import { indexConfig } from '../../../support/index-config';
import { keyspacesConfig } from '../../../support/keyspaces-config';

/** The mark of a format that a later release wrote. */
const LATER = '9@0.7.0';

const CONFIG = indexConfig({ shards: { default: { write: 2, read: 2 } }, strategy: 'random' });
const ADAPTIVE = { ...CONFIG, version: 2, adaptive: { tableName: 'Counts', maximum: 8 } } as never;
const ROWS = keyspacesConfig();

/** A DynamoDB client whose table has only items with the mark of the later release and these attributes. */
function tableOf(attributes: Record<string, AttributeValue>): never {
  const item = { ...attributes, format: { S: LATER } };
  return {
    getItem: async () => ({ Item: item }),
    query: async () => ({ Items: [item] }),
    scan: async () => ({ Items: [{ id: { S: 'owner/a' }, ...item }] }),
    updateItem: async () => ({ Attributes: item }),
    batchGetItem: async () => ({ Responses: { Parking: [item] } }),
    putItem: async () => {
      throw new Error('nothing may be written');
    },
    deleteItem: async () => ({}),
    transactWriteItems: async () => ({}),
  } as never;
}

const parking = (attributes: Record<string, AttributeValue>) =>
  new DynamoDbParkingStore(tableOf(attributes), { tableName: 'Parking', consumer: 'c' });
const parkedKey = { partitionKey: 'k', storageKey: { id: 'x' }, first: 0, next: 1 } as never;
const cursor = `${LATER}@AAAA`;
const cql = { execute: async () => ({ rows: [] }) } as never;

const READERS: Record<string, [read: () => unknown, format: string]> = {
  'fanOutQuery of a cursor': [() => fanOutQuery(tableOf({}), CONFIG, { value: 'a', cursor }), 'cursor'],
  'fanOutSelect of a cursor': [() => fanOutSelect(cql, ROWS, { value: { day: 'a' }, cursor }), 'cursor'],
  'fanOutCount of a cursor': [() => fanOutCount(tableOf({}), CONFIG, { value: 'a', cursor }), 'resume point'],
  'findStrays of a resume point': [
    () => findStrays(tableOf({}), CONFIG, { segment: 0, totalSegments: 1, resumeFrom: cursor }),
    'resume point',
  ],
  'shardAttributes of a configuration': [
    () => shardAttributes({ ...CONFIG, version: LATER } as never, {}),
    'index configuration',
  ],
  'AdaptiveIndex of a configuration': [
    () => new AdaptiveIndex({ ...(ADAPTIVE as object), version: LATER } as never, {} as never),
    'index configuration',
  ],
  'fanOutSelect of a configuration': [
    () => fanOutSelect(cql, { ...ROWS, version: LATER } as never, {} as never),
    'Keyspaces configuration',
  ],
  'the marks of a parking table': [() => parking({}).find(['k']), 'parking marks'],
  'the records of a parked key': [() => parking({}).records(parkedKey).next(), 'parked records'],
  'a move of a key': [() => parking({}).waitForMove({ moveId: 'm', partitionKey: 'k' }, 1), 'move'],
  'the head of a registry': [() => new DynamoDbRegistryStore(tableOf({}), 'Owners').readHead(), 'registry head'],
  'an owner of a registry': [() => new DynamoDbRegistryStore(tableOf({}), 'Owners').readEntry('a'), 'registry entry'],
  'all owners of a registry': [() => new DynamoDbRegistryStore(tableOf({}), 'Owners').readEntries(), 'registry entry'],
  'an adaptive count': [() => new DynamoDbShardCountReader(tableOf({}), ADAPTIVE).readCounts(), 'shard count'],
  'a report of writes': [() => reportOf('2026-11-27T07:00=a', { format: { S: LATER } }), 'write report'],
  'a sequence in a record': [() => parseSequenceText(`${LATER}@1/producer`), 'record sequence'],
  'a fence': [() => parseFence(laterFence()), 'fence'],
  'the mark of a deployment': [() => parseDeploymentMark(`${LATER}@x`, 0), 'deployment mark'],
  'the history of shard counts': [() => parseUpdateHistory(`${LATER}@x`, 0), 'update history'],
  'the metadata of a table': [
    () => shardingMetadata({ 'EvenShards::Format': LATER, [SHARDED_INDEXES]: {} }, SHARDED_INDEXES),
    'sharding metadata',
  ],
};

describe('data in the format of a later release', () => {
  test.each(Object.entries(READERS))('%s – throws an error that names the later release', async (_, [read, format]) => {
    const error = await (async () => read())().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(NewerFormatError);
    expect(error).toMatchObject({ code: 'NEWER_FORMAT', format, version: 9, release: '0.7.0' });
    expect(String(error)).toMatch(/update cdk-even-shards to 0\.7\.0 or later/);
  });

  test('DynamoDbParkingStore.find – the marks are readable, but the parked key is not – throws an error that names the format', async () => {
    const mark = { [`p${partOf('k')}`]: { S: 'x' } };
    const store = new DynamoDbParkingStore(
      {
        ...(tableOf({}) as object),
        getItem: async ({ Key }: { Key: { part: { S: string } } }) =>
          Key.part.S === 'marks' ? { Item: mark } : { Item: { format: { S: LATER } } },
      } as never,
      { tableName: 'Parking', consumer: 'c' },
    );
    await expect(store.find(['k'])).rejects.toMatchObject({ code: 'NEWER_FORMAT', format: 'parked key' });
  });

  test('a consumer parks the records of a key from an unreadable fence on, and does not call the handler for these records', async () => {
    const parkingStore = new MemoryParkingStore();
    const handled: string[] = [];
    const consumer = new OrderedConsumer(async ({ data }) => void handled.push(Buffer.from(data).toString()), {
      parking: parkingStore,
      metrics: false,
    } as never);
    const records = [
      { shardId: 's', partitionKey: 'a', sequenceNumber: '1', data: laterFence() },
      { shardId: 's', partitionKey: 'a', sequenceNumber: '2', data: Buffer.from('after') },
      { shardId: 's', partitionKey: 'b', sequenceNumber: '3', data: Buffer.from('other') },
    ];
    await consumer.process(records, { source: 'stream' });
    expect(handled).toEqual(['other']);
    const { value: key } = await parkingStore.parked()[Symbol.asyncIterator]().next();
    expect(key).toMatchObject({
      partitionKey: 'a',
      records: 2,
      lastError: expect.stringContaining('NewerFormatError'),
    });
  });
});

describe('checkFormat', () => {
  test.each([undefined, 1, '1', '1@0.1.0', '1@9.9.9'])('accepts %p, because this release reads version 1', (mark) => {
    expect(() => checkFormat('cursor', mark)).not.toThrow();
  });

  test.each([2, '2@0.3.0', 'unknown', '', '2@later', null])('rejects %p', (mark) => {
    expect(() => checkFormat('cursor', mark)).toThrow(NewerFormatError);
  });
});

/** A fence whose content has the mark of a later release. */
function laterFence(): Buffer {
  const now = Buffer.from(fenceData({ moveId: 'm', side: 'end' }));
  const at = now.lastIndexOf('{');
  return Buffer.concat([now.subarray(0, at), Buffer.from(JSON.stringify({ format: LATER, moveId: 'm', side: 'end' }))]);
}
