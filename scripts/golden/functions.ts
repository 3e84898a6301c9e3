import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { FakeKinesis, VirtualClock } from 'cdk-even-shards/testing';
import { FakeIndex } from '../../test/support/fakes/fake-index';
import { ParkingTable } from '../../test/support/fakes/parking-table';
import { ADAPTIVE } from './counts';
import { JOBS, jobs } from './cursors';
import { type Operations, startService } from './service';
import type { Written } from './written';

const load = createRequire(__filename);
const PACKAGE = dirname(load.resolve('cdk-even-shards/package.json'));
const STREAM = 'events';

type Handler = (event: unknown, context: object) => Promise<unknown>;

/** The operations that the present function uses. */
let operations: Operations = {};

/** The names of the metrics of each function, with their dimensions. */
const metrics: Record<string, string[]> = {};

/** A function whose bundle the runtime has loaded with these environment variables. */
function loaded(name: string, environment: Record<string, string>): Handler {
  for (const variable of Object.keys(process.env))
    if (variable.startsWith('EVEN_SHARDS_')) delete process.env[variable];
  Object.assign(process.env, environment, { AWS_LAMBDA_FUNCTION_NAME: name });
  const file = join(PACKAGE, 'dist/lambda', name, 'index.js');
  delete load.cache[file];
  const { handler }: { handler: Handler } = load(file);
  const context = { getRemainingTimeInMillis: () => 60_000, invokedFunctionArn: `arn:aws:lambda:::function:${name}` };
  return (event) => withMetrics(name, () => handler(structuredClone(event), { ...context, functionName: name }));
}

/** Collects the metrics that a function writes to its log, which is not printed. */
async function withMetrics<T>(name: string, work: () => Promise<T>): Promise<T> {
  const write = process.stdout.write;
  metrics[name] ??= [];
  process.stdout.write = (text: string) => {
    const { _aws: embedded } = text.startsWith('{') ? JSON.parse(text) : {};
    for (const { Namespace, Dimensions, Metrics } of embedded?.CloudWatchMetrics ?? []) {
      for (const dimensions of Dimensions) {
        const by = [...dimensions].sort().join(', ');
        for (const { Name } of Metrics) metrics[name]!.push(`${Namespace} ${Name} by ${by}`);
      }
    }
    return true;
  };
  try {
    return await work();
  } finally {
    process.stdout.write = write;
  }
}

/** Invokes a function with each event, and keeps the event and the response or the error. */
async function responsesOf(invoke: Handler, events: Record<string, unknown>) {
  const responses: Record<string, unknown> = {};
  for (const [name, event] of Object.entries(events)) {
    const outcome = await invoke(event, {}).then(
      (response) => ({ response: withoutCosts(response ?? null) }),
      ({ name: error, code }) => ({ error, code }),
    );
    responses[name] = { event, ...outcome };
  }
  return responses;
}

/** The response with the types of its costs, because a release may send other requests for the same page. */
function withoutCosts(response: unknown): unknown {
  const { stats } = Object(response);
  if (stats === undefined) return response;
  const types = Object.entries(stats).map(([name, value]) => [name, typeof value]);
  return { ...(response as object), stats: Object.fromEntries(types) };
}

function kinesis(shardCount: number) {
  const fake = new FakeKinesis({ clock: new VirtualClock(), streamName: STREAM, shardCount, roundTripMs: () => 0 });
  const putRecords: unknown[] = [];
  const calls = [
    'describeStreamSummary',
    'listShards',
    'listTagsForStream',
    'addTagsToStream',
    'updateShardCount',
  ] as const;
  const control = Object.fromEntries(calls.map((name) => [name, (input: never) => fake[name](input)]));
  const put = ({ Records }: { Records: object[] }) => {
    const first = putRecords.length;
    putRecords.push(...Records);
    const Sent = Records.map((_, n) => ({ ShardId: 'shardId-000000000000', SequenceNumber: String(700 + first + n) }));
    return { FailedRecordCount: 0, Records: Sent };
  };
  return { fake, putRecords, operations: { ...control, putRecords: put } as unknown as Operations };
}

function tableOperations(table: ParkingTable): Operations {
  const names = ['getItem', 'putItem', 'updateItem', 'query', 'scan'] as const;
  return Object.fromEntries(names.map((name) => [name, (input: never) => table[name](input)]));
}

const fifo = 'arn:aws:sqs:eu-west-1:111111111111:events.fifo';
const message = (messageId: string, body: string, SequenceNumber: string) => ({
  messageId,
  body,
  eventSource: 'aws:sqs',
  eventSourceARN: fifo,
  attributes: { MessageGroupId: 'a', SequenceNumber },
});

const PRODUCER_EVENTS = {
  'records of a caller': {
    records: [
      { partitionKey: 'a', data: 'text' },
      { partitionKey: 'a', data: { json: [1, true] } },
      { partitionKey: 'b', dataBase64: 'AAEC', explicitHashKey: '1' },
    ],
  },
  'an owner without a registry': { records: [{ partitionKey: 'b', hashKeyOwner: 'ann', data: 'x' }] },
  'messages of a queue': {
    Records: [message('m1', '{"data":"1"}', '18850000000000000001'), message('m2', 'no JSON', '18850000000000000002')],
  },
  'changes of a table': {
    Records: [
      {
        eventID: 'e1',
        eventName: 'INSERT',
        eventSource: 'aws:dynamodb',
        eventSourceARN: 'arn:aws:dynamodb:eu-west-1:111111111111:table/orders/stream/2026',
        dynamodb: {
          Keys: { id: { S: 'o1' }, line: { N: '7' } },
          NewImage: { id: { S: 'o1' } },
          SequenceNumber: '500000000000',
        },
      },
    ],
  },
  'an event without records': {},
};

/** The record of a table's stream for a new item. */
function changeOf(item: Record<string, unknown>): object {
  const { tableKey, tableName } = JOBS;
  return {
    eventName: 'INSERT',
    eventSource: 'aws:dynamodb',
    eventSourceARN: `arn:aws:dynamodb:eu-west-1:111111111111:table/${tableName}/stream/2026`,
    dynamodb: {
      Keys: Object.fromEntries(tableKey.map((name) => [name, item[name]])),
      NewImage: item,
      SequenceNumber: '500000000000',
      ApproximateCreationDateTime: Math.floor(Date.now() / 1_000),
    },
  };
}

export async function functions(): Promise<Written> {
  const service = await startService(() => operations);
  Object.assign(process.env, {
    AWS_ENDPOINT_URL: service.endpoint,
    AWS_REGION: 'eu-west-1',
    AWS_ACCESS_KEY_ID: 'local',
    AWS_SECRET_ACCESS_KEY: 'local',
    POWERTOOLS_DEV: 'false',
  });
  const responses: Record<string, unknown> = {};
  const written: Written = { responses };
  try {
    const stream = kinesis(2);
    operations = stream.operations;
    const producer = loaded('producer', {
      EVEN_SHARDS_STREAM_NAME: STREAM,
      EVEN_SHARDS_SEQUENCE: 'true',
      EVEN_SHARDS_AGGREGATION: 'true',
    });
    responses.producer = {
      ...(await responsesOf(producer, PRODUCER_EVENTS)),
      'records of the stream': stream.putRecords,
    };

    const index = new FakeIndex(JOBS);
    for (const item of jobs) index.put(item as never);
    operations = { query: (input) => index.query(input) } as Operations;
    const query = loaded('query-fanout', { EVEN_SHARDS_INDEXES: JSON.stringify({ byStatus: JOBS }) });
    const page = (await query({ index: 'byStatus', value: 'done', limit: 5 }, {})) as { cursor: string };
    responses['query-fanout'] = await responsesOf(query, {
      'a page': { index: 'byStatus', value: 'done', limit: 5 },
      'the next page': { index: 'byStatus', value: 'done', limit: 5, cursor: page.cursor },
      'DynamoDB JSON': { index: 'byStatus', value: 'done', order: 'descending', limit: 1, format: 'dynamodb' },
      'a count': { index: 'byStatus', value: 'done', select: 'count' },
      'an unknown index': { index: 'byTime' },
    });

    const owners = new ParkingTable(['id']);
    operations = { ...tableOperations(owners), ...kinesis(2).operations };
    const registry = loaded('hash-key-registry', {
      EVEN_SHARDS_STREAM_NAME: STREAM,
      EVEN_SHARDS_REGISTRY_TABLE_NAME: 'Owners',
    });
    responses['hash-key-registry'] = await responsesOf(registry, {
      allocate: { action: 'allocate', owners: ['ann', { owner: 'bob', weight: 3 }] },
      get: { action: 'get', owners: ['ann', 'nobody'] },
      'the first page of a list': { action: 'list', limit: 1 },
      'the next page of a list': { action: 'list', cursor: 'ann' },
      plan: { action: 'plan' },
      rebalance: { action: 'rebalance', mostMoves: 1 },
      'a stale move': { action: 'move', owner: 'ann', fromHashKey: '5', toHashKey: '6' },
      release: { action: 'release', owners: ['bob'] },
      'an unknown action': { action: 'rename' },
    });

    const counts = new ParkingTable(['index', 'value']);
    operations = tableOperations(counts);
    const controller = loaded('adaptive-shard-count-controller', { EVEN_SHARDS_INDEX: JSON.stringify(ADAPTIVE) });
    responses['adaptive-shard-count-controller'] = await responsesOf(controller, {
      'a scheduled check': {},
      'a dry run': { dryRun: true },
      'an unknown field': { valeu: 'new' },
    });

    const items = jobs.slice(0, 3);
    operations = {
      scan: () => ({ Items: items, LastEvaluatedKey: undefined, ConsumedCapacity: { CapacityUnits: 1 } }),
      updateItem: () => ({ ConsumedCapacity: { CapacityUnits: 1 } }),
    };
    const mover = loaded('item-mover', {
      EVEN_SHARDS_INDEX: JSON.stringify(JOBS),
      EVEN_SHARDS_READ_UNITS_PER_SECOND: '1000',
      EVEN_SHARDS_WRITE_UNITS_PER_SECOND: '1000',
      EVEN_SHARDS_SEGMENTS_AT_ONCE: '1',
    });
    responses['item-mover'] = await responsesOf(mover, {
      'an audit': { segment: 0, totalSegments: 1, request: { mode: 'audit' } },
      'a reshard': { segment: 0, totalSegments: 1, request: {} },
      'an unknown mode': { segment: 0, totalSegments: 1, request: { mode: 'count' } },
    });

    const { [JOBS.shardAttribute]: _, ...plainJob } = jobs[0] as Record<string, object>;
    const keeperTable = new ParkingTable(['id', 'item']);
    operations = tableOperations(keeperTable);
    const keeper = loaded('index-keeper', {
      EVEN_SHARDS_INDEXES: JSON.stringify({ byStatus: JOBS }),
      EVEN_SHARDS_KEEPER_TABLE_NAME: 'Keeper',
      EVEN_SHARDS_CORRECTS_ITEMS: 'true',
      EVEN_SHARDS_READ_UNITS_PER_SECOND: '100',
    });
    responses['index-keeper'] = await responsesOf(keeper, {
      'a sweep before the first change': { sweep: true },
      'a change': { Records: [changeOf({ ...plainJob, status: { NULL: true } })] },
      'a list': { list: true },
      'a sweep': { sweep: true },
      'an unknown field': { lists: true },
    });
    const [state, namedItem] = keeperTable.all;
    written['keeper state'] = { 'of a started sweep': { item: state } };
    written['named item'] = { 'of an invalid value': { item: namedItem } };

    const uneven = kinesis(3);
    operations = uneven.operations;
    const resharder = loaded('stream-resharder', {});
    const request = {
      RequestType: 'Create',
      StackId: 'arn:aws:cloudformation:eu-west-1:111111111111:stack/s/1',
      ResourceProperties: { StreamName: STREAM, ShardCount: '4' },
    };
    const tags = () => Object.fromEntries(uneven.fake.tags);
    responses['stream-resharder'] = await responsesOf(resharder, { 'the first invocation': request });
    const marked = tags();
    Object.assign(
      responses['stream-resharder'] as object,
      await responsesOf(resharder, { 'the next invocation': { ...request, StartedAt: Date.now() } }),
    );
    const now = Date.now();
    written['deployment mark'] = {
      'of a deployment': {
        tag: marked['even-shards/deployment'],
        tags: Object.keys(marked),
        now,
        mark: { startedAt: now, shardCount: 4 },
      },
    };
    written['update history'] = {
      'of one update': {
        tag: tags()['even-shards/shard-count-updates'],
        tags: Object.keys(tags()),
        now,
        history: [{ time: now, shardCount: 4 }],
      },
    };

    operations = kinesis(2).operations;
    const reconciler = loaded('stream-reconciler', { EVEN_SHARDS_STREAM_NAME: STREAM, EVEN_SHARDS_SHARD_COUNT: '3' });
    responses['stream-reconciler'] = await responsesOf(reconciler, { 'a report': {} });
  } finally {
    service.close();
  }
  const names = Object.entries(metrics).map(([name, of]) => [name, [...new Set(of)].sort()]);
  return { ...written, names: { 'metrics of functions': Object.fromEntries(names) } };
}
