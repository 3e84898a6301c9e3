import type { Kinesis } from '@aws-sdk/client-kinesis';
import { deaggregate, findStrays, shardAttributes } from '../../../lib/core';
import {
  AGGREGATION,
  HASH_BUCKETS,
  INDEX,
  INDEXES,
  READ_UNITS_PER_SECOND,
  REGISTRY_TABLE_NAME,
  SEGMENTS_AT_ONCE,
  SEQUENCE,
  STREAM_NAME,
  WRITE_UNITS_PER_SECOND,
} from '../../../lib/core/contract/function-environment';
import { waitUntilActive } from '../../support/active-stream';
import { indexConfig } from '../../support/index-config';
import { createKeyedTable } from '../../support/keyed-table';
import { createTable } from '../../support/sharded-tables';
import { type Play, playVersions } from './play-versions';
import type { Version } from './version-worker';

const TURNS = 2;
const KEYS = ['a', 'b', 'c'];
const ITEMS = 120;
const STATUSES = ['open', 'done'];
const READ_UNITS = 1;
/** The mover stops 15 seconds before its timeout. So it has 300 ms for the items of its first page. */
const MOVER_TIMEOUT_MS = 15_300;

playVersions(
  {
    scenario: 'bundled functions',
    seeds: 1,
    expected: [
      'records',
      'pages',
      'commits',
      'moved',
      'cursor old to new',
      'cursor new to old',
      'resume point old to new',
      'resume point new to old',
    ],
  },
  playFunctions,
);

/**
 * The producer, the fan-out query, the registry and the item mover of the running versions handle the same events. Throws
 * unless the responses of both versions have the same fields, and each version continues the work of the other version.
 */
async function playFunctions(play: Play<never>): Promise<void> {
  const { name, phases, clients, counts, add, exchanges, random, pick, lambda, restart } = play;
  const { dynamodb, kinesis } = clients;
  const index = indexConfig({
    tableName: `${name}-items`,
    tableKey: ['id'],
    keyLayout: 'single-attribute',
    shardAttribute: 'byStatusShard',
    shards: { default: { write: 3, read: 3 } },
  });
  await createTable(dynamodb, index, { id: 'S', byStatusShard: 'S', createdAt: 'S' });
  await createKeyedTable(dynamodb, `${name}-owners`, 'id');
  await kinesis.createStream({ StreamName: name, ShardCount: 2 });
  await waitUntilActive(kinesis, name);

  const invoke = async (
    version: Version,
    bundle: string,
    environment: Record<string, string>,
    event: object,
    timeoutMs = 10_000,
  ) => {
    const running = await lambda(version, bundle, environment);
    const { response, error, log } = await running.invoke(event, timeoutMs);
    if (error !== undefined)
      throw new Error(`the ${bundle} of the ${version} version failed: ${error.message}\n${log}`);
    // biome-ignore lint/suspicious/noExplicitAny: the test reads the JSON as a caller does
    return JSON.parse(response!) as any;
  };
  /** For each function, the fields of its responses. Both versions must have the same fields. */
  const shapes = new Map<string, string>();
  const expectShape = (bundle: string, response: object, optional: readonly string[]): void => {
    const shape = shapeOf(response, optional);
    if ((shapes.get(bundle) ?? shape) !== shape)
      throw new Error(`a response of ${bundle} has ${shape} instead of ${shapes.get(bundle)}`);
    shapes.set(bundle, shape);
  };

  const written = new Map<string, string[]>(KEYS.map((key) => [key, []]));
  const owners = new Map<string, string>();
  for (let number = 0; number < ITEMS; number++) await putItem(number);
  let [query, moving] = [longQuery(), longMove()];
  // The movers need two invocations for the table. With this first invocation, each phase begins with the second invocation.
  await moving(phases[0]![0]!);
  for (const versions of phases) {
    for (let turn = 0; turn < TURNS; turn++) {
      await produce(pick(versions));
      await changeOwners(pick(versions), pick(versions));
      if (await query(pick(versions))) query = longQuery();
      // The mover changes no item of the query, because the query only reads items that are in their shards.
      if (await moving(pick(versions))) moving = longMove();
    }
    await restart();
  }
  await checkRecords(kinesis, name, written);

  /** A tenth of the items has no shard. Other items are in their shards. */
  async function putItem(number: number): Promise<void> {
    const item = { id: `order-${number}`, status: STATUSES[number % 2]!, createdAt: `2026-0${1 + (number % 5)}` };
    const shard = number % 10 < 2 ? { status: `stray ${item.status}` } : shardAttributes(index, item);
    const texts = Object.entries({ ...item, ...shard }).map(([attribute, text]) => [attribute, { S: String(text) }]);
    await dynamodb.putItem({ TableName: index.tableName, Item: Object.fromEntries(texts) });
  }

  async function produce(version: Version): Promise<void> {
    const texts = Array.from({ length: 6 }, () => {
      const key = pick(KEYS);
      const text = `${key}${written.get(key)!.length}`;
      written.get(key)!.push(text);
      return { partitionKey: key, data: text };
    });
    const mode = pick(['', 'true', 'packed']);
    const environment = {
      [STREAM_NAME]: name,
      // All modes use the same hash buckets, so that a key stays in its shard.
      [HASH_BUCKETS]: '256',
      ...(mode !== '' && { [AGGREGATION]: mode }),
      ...(random() < 0.5 && { [SEQUENCE]: 'true' }),
    };
    add('records', texts.length);
    if (random() < 0.5) {
      const response = await invoke(version, 'producer', environment, { records: texts });
      if (response.failedRecordCount > 0) throw new Error(`the producer rejected records: ${JSON.stringify(response)}`);
      expectShape('producer', response.records[0], ['subSequenceNumber']);
    } else {
      const Records = texts.map(({ partitionKey, data }, at) => ({
        eventSource: 'aws:sqs',
        eventSourceARN: 'arn:aws:sqs:us-east-1:111122223333:orders.fifo',
        messageId: `message-${at}`,
        body: JSON.stringify({ data }),
        attributes: { MessageGroupId: partitionKey, SequenceNumber: String(1e9 + counts.records! + at) },
      }));
      const response = await invoke(version, 'producer', environment, { Records });
      if (JSON.stringify(response) !== '{"batchItemFailures":[]}')
        throw new Error(`the producer rejected messages: ${JSON.stringify(response)}`);
    }
  }

  /** One version allocates and moves an owner, and another version reads the owners. */
  async function changeOwners(writer: Version, reader: Version): Promise<void> {
    const environment = { [STREAM_NAME]: name, [REGISTRY_TABLE_NAME]: `${name}-owners` };
    const owner = `owner-${Math.floor(random() * 8)}`;
    const allocated = await invoke(writer, 'hash-key-registry', environment, { action: 'allocate', owners: [owner] });
    expectShape('hash-key-registry', allocated.owners[0], []);
    const { hashKey: fromHashKey } = allocated.owners[0];
    if ((owners.get(owner) ?? fromHashKey) !== fromHashKey) throw new Error(`${owner} got a second key`);
    const toHashKey = String(Math.floor(random() * 1e12));
    await invoke(writer, 'hash-key-registry', environment, { action: 'move', owner, fromHashKey, toHashKey });
    owners.set(owner, toHashKey);
    add('commits', 2);
    const listed: { owner: string; hashKey: string }[] = [];
    for (let cursor: string | undefined; ; ) {
      const event = { action: 'list', limit: 3, ...(cursor !== undefined && { cursor }) };
      const page = await invoke(reader, 'hash-key-registry', environment, event);
      listed.push(...page.owners);
      cursor = page.cursor;
      if (cursor === undefined) break;
    }
    const text = (entries: Iterable<readonly [string, string]>) =>
      [...entries]
        .map((entry) => entry.join(' '))
        .sort()
        .join(', ');
    const found = text(listed.map((each) => [each.owner, each.hashKey] as const));
    if (found !== text(owners)) throw new Error(`the ${reader} version lists ${found} instead of ${text(owners)}`);
  }

  /** Reads one page in each call. Returns whether the page was the last page. */
  function longQuery(): (version: Version) => Promise<boolean> {
    const environment = { [INDEXES]: JSON.stringify({ byStatus: index }) };
    const event = { index: 'byStatus', values: STATUSES, order: pick(['ascending', 'descending']), limit: 30 };
    const ids: string[] = [];
    const count = exchanges('cursor');
    let cursor: string | undefined;
    return async (version) => {
      count(version);
      const page = await invoke(version, 'query-fanout', environment, {
        ...event,
        ...(cursor !== undefined && { cursor }),
      });
      expectShape('query-fanout', page, ['cursor', 'items']);
      ids.push(...page.items.map(({ id }: { id: string }) => id));
      cursor = page.cursor;
      add('pages');
      if (cursor !== undefined) return false;
      const whole = await invoke(version, 'query-fanout', environment, { ...event, limit: ITEMS });
      const wanted = whole.items.map(({ id }: { id: string }) => id);
      if (ids.length !== 0.8 * ITEMS || ids.join() !== wanted.join())
        throw new Error(`the pages have ${ids.join()} instead of ${wanted.join()}`);
      return true;
    };
  }

  /** Moves the items of one invocation, as the state machine does. Returns whether the segment is complete. */
  function longMove(): (version: Version) => Promise<boolean> {
    const environment = {
      [INDEX]: JSON.stringify(index),
      [READ_UNITS_PER_SECOND]: String(READ_UNITS),
      [WRITE_UNITS_PER_SECOND]: '1000',
      [SEGMENTS_AT_ONCE]: '1',
    };
    const count = exchanges('resume point');
    let event: { resumePoint?: string; totals?: { itemsScanned: number; moved: number } } = {};
    return async (version) => {
      count(version);
      event = await invoke(
        version,
        'item-mover',
        environment,
        { segment: 0, totalSegments: 1, request: {}, ...event },
        MOVER_TIMEOUT_MS,
      );
      expectShape('item-mover', event, ['resumePoint']);
      if (event.resumePoint !== undefined) return false;
      add('moved', event.totals!.moved);
      const { itemsScanned } = event.totals!;
      if (itemsScanned !== ITEMS) throw new Error(`the movers have scanned ${itemsScanned} of ${ITEMS} items`);
      const { strays } = await findStrays(dynamodb, index);
      const left = Object.values(strays).reduce((sum, each) => sum + each, 0);
      if (left > 0) throw new Error(`${left} strays remain`);
      for (let number = 0; number < ITEMS; number++) await putItem(number);
      return true;
    };
  }
}

/** The names of the fields of a response, with the fields of its objects. */
function shapeOf(value: object, optional: readonly string[]): string {
  const fields = Object.entries(value).filter(([field]) => !optional.includes(field));
  const texts = fields.map(([field, each]) =>
    each?.constructor === Object ? `${field}: { ${shapeOf(each, optional)} }` : field,
  );
  return texts.sort().join(', ');
}

/** Compares the records of the stream with the written texts of each key, in order. */
async function checkRecords(
  kinesis: Kinesis,
  StreamName: string,
  written: ReadonlyMap<string, readonly string[]>,
): Promise<void> {
  const found = new Map<string, string[]>();
  for (const { ShardId } of (await kinesis.listShards({ StreamName })).Shards ?? []) {
    const { ShardIterator } = await kinesis.getShardIterator({
      StreamName,
      ShardId,
      ShardIteratorType: 'TRIM_HORIZON',
    });
    const { Records = [] } = await kinesis.getRecords({ ShardIterator });
    for (const { Data, PartitionKey, SequenceNumber } of Records) {
      const record = { data: Data!, partitionKey: PartitionKey!, sequenceNumber: SequenceNumber! };
      for (const { partitionKey, data } of deaggregate(record)) {
        found.set(partitionKey, [...(found.get(partitionKey) ?? []), Buffer.from(data).toString()]);
      }
    }
  }
  for (const [key, texts] of written) {
    if (found.get(key)?.join() !== texts.join())
      throw new Error(`key ${key} has ${found.get(key)} instead of ${texts}`);
  }
}
