import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type {
  GetRecordsCommandInput,
  GetShardIteratorCommandInput,
  ListShardsCommandInput,
} from '@aws-sdk/client-kinesis';
import { doctor } from '../../bin/doctor';
import { type LocalStack, startLocal } from '../../bin/local/run-local';
import { cutShort, printable } from '../../bin/plain-text';
import { put } from '../../bin/put';
import { query } from '../../bin/query';
import { ShardReader } from '../../bin/stream-shards/shard-reader';
import { tail } from '../../bin/tail';
import { OrderedProducer } from '../../lib/core/producer';
import { printed } from '../support/command';
import { synthesizeConsoleApp } from '../support/stacks/console-app';
import { synthesizeDeployment } from '../support/stacks/deployments';

/** Runs the commands against the endpoints of a local run. */
describe('the commands query, put and tail', () => {
  let app: string;
  let stack: LocalStack;
  let where: string[];
  let errors: jest.SpyInstance;

  beforeAll(async () => {
    app = synthesizeDeployment({ shardCount: 2, indexes: ['byStatus', 'byCustomer'], sparseIndexes: ['byCustomer'] });
    stack = await startLocal({ app });
    const { kinesis, dynamodb } = stack.endpoints;
    where = ['--app', app, '--kinesis-endpoint', kinesis, '--dynamodb-endpoint', dynamodb];
  }, 60_000);
  afterAll(() => stack?.stop());
  beforeEach(() => {
    errors = jest.spyOn(console, 'error').mockImplementation(() => {});
  });
  afterEach(() => {
    jest.restoreAllMocks();
    process.exitCode = undefined;
  });

  const inputOf = (text: string): string => {
    const file = join(app, 'input.ndjson');
    writeFileSync(file, text);
    return file;
  };
  const lines = (text: string): Record<string, unknown>[] => text.split('\n').map((line) => JSON.parse(line));
  const printedErrors = (): string => errors.mock.calls.map(([line]) => line).join('\n');

  const ORDERS = Array.from({ length: 30 }, (_, n) => ({
    orderId: `order-${n}`,
    status: n % 3 === 0 ? 'failed' : 'pending',
    customer: `customer-${n % 2}`,
    createdAt: `2026-01-${String(n + 1).padStart(2, '0')}`,
  }));

  describe('put and query', () => {
    beforeAll(async () => {
      jest.spyOn(console, 'error').mockImplementation(() => {});
      const file = join(app, 'orders.ndjson');
      writeFileSync(file, ORDERS.map((order) => `${JSON.stringify(order)}\n`).join(''));
      expect(await printed(put, 'TableName', '--input', file, ...where)).toBe('30 items put into Shop/Orders/Table');
    });

    const page = (...args: string[]) => printed(query, ...args, ...where);
    const days = async (...args: string[]) =>
      lines(await page(...args, '--json')).map(({ createdAt }) => String(createdAt).slice(-2));

    test('queries of every index find the items in order', async () => {
      expect(await days('byStatus', '--value', 'failed', '--limit', '4')).toEqual(['01', '04', '07', '10']);
      expect(await days('byCustomer', '--value', 'customer-1', '--order', 'descending', '--limit', '3')).toEqual([
        '30',
        '28',
        '26',
      ]);
    });

    test('query accepts a condition on the sort key', async () => {
      const between = ['--between', '2026-01-04,2026-01-10'];
      expect(await days('byStatus', '--value', 'failed', ...between)).toEqual(['04', '07', '10']);
    });

    test('query continues after a cursor, or reads to the end with --all', async () => {
      await days('byStatus', '--value', 'failed', '--limit', '4');
      const cursor = /^cursor: (.*)$/m.exec(printedErrors())![1]!;
      expect(await days('byStatus', '--value', 'failed', '--limit', '2', '--cursor', cursor)).toEqual(['13', '16']);
      expect(await days('byStatus', '--value', 'failed', '--value', 'pending', '--limit', '7', '--all')).toEqual(
        ORDERS.map(({ createdAt }) => createdAt.slice(-2)),
      );
    });

    test('query prints the items of a page as a table, with the cost and the cursor of the page', async () => {
      const args = ['--value', 'failed', '--limit', '2', '--project', 'orderId,createdAt'];
      const [header, rule, first, second, cost, cursor] = (await page('byStatus', ...args)).split('\n');
      expect([header, rule, first, second]).toEqual([
        '  createdAt   orderId',
        '  ----------  -------',
        '  2026-01-01  order-0',
        '  2026-01-04  order-3',
      ]);
      expect(cost).toMatch(/^2 items from 4 shards, \d+ requests, [\d.]+ read units$/);
      expect(cursor).toMatch(/^cursor: /);
    });

    test('query and put print the policy that they need', async () => {
      const table = `arn:aws:dynamodb:*:*:table/${stack.tables[0]!.name}`;
      expect(JSON.parse(await page('byStatus', '--permissions')).Statement).toEqual([
        { Effect: 'Allow', Action: ['dynamodb:DescribeTable'], Resource: [table] },
        { Effect: 'Allow', Action: ['dynamodb:Query'], Resource: [`${table}/index/byStatus`] },
      ]);
      expect(JSON.parse(await printed(put, 'Table', '--permissions', ...where)).Statement).toEqual([
        { Effect: 'Allow', Action: ['dynamodb:DescribeTable', 'dynamodb:PutItem'], Resource: [table] },
      ]);
    });

    test('query and put reject wrong arguments before a write', async () => {
      await expect(page('--value', 'failed')).rejects.toThrow(
        'name an index: there is Shop/Orders/Table/byStatus, Shop/Orders/Table/byCustomer',
      );
      await expect(page('byDay')).rejects.toThrow('no index is called byDay');
      await expect(page('byStatus')).rejects.toMatchObject({ code: 'USAGE' });
      await expect(page('byStatus', '--value', 'failed', '--gt', 'a', '--lt', 'b')).rejects.toThrow(
        'give one of --lt and --gt',
      );
      await expect(printed(put, 'Table', '--item', '[]', ...where)).rejects.toThrow('--item must be a JSON object');
      await expect(printed(query, '--stack', 'Orders', '--app', app)).rejects.toThrow('give either --stack or --app');
    });

    test('query and put report requests that fail or are rejected', async () => {
      const closedPort = ['--app', app, '--dynamodb-endpoint', 'http://127.0.0.1:1'];
      await expect(printed(query, 'byStatus', '--value', 'failed', ...closedPort)).rejects.toMatchObject({
        code: 'ACCOUNT_FAILED',
        problem: expect.stringMatching(/^the account does not respond: .*ECONNREFUSED/),
      });
      const keyless = printed(put, 'Table', '--item', '{"status":"failed"}', ...where);
      await expect(keyless).rejects.toThrow(/orderId|the account has rejected a request: ValidationException/);
    });

    test('with --app and only some local endpoints, commands fail, and never send requests to the account', async () => {
      const { kinesis, dynamodb } = stack.endpoints;
      const ofTable = ['--app', app, '--dynamodb-endpoint', dynamodb];
      const ofStream = ['--app', app, '--kinesis-endpoint', kinesis];
      const item = ['--item', '{"orderId":"1"}', '--partition-key', 'orderId'];
      await expect(printed(put, 'Events', ...item, ...ofTable)).rejects.toThrow('--app needs --kinesis-endpoint');
      await expect(printed(tail, 'Events', ...ofTable)).rejects.toThrow('--app needs --kinesis-endpoint');
      await expect(printed(put, 'Table', ...item, ...ofStream)).rejects.toThrow('--app needs --dynamodb-endpoint');
      await expect(printed(query, 'byStatus', ...ofStream)).rejects.toThrow('--app needs --dynamodb-endpoint');
      await expect(printed(doctor, ...ofTable)).rejects.toThrow('--app needs --console');
    });

    test('query rejects an endpoint that is not a URL', async () => {
      const rejected = printed(query, 'byStatus', '--app', app, '--dynamodb-endpoint', 'localhost:8000');
      await expect(rejected).rejects.toMatchObject({
        code: 'USAGE',
        problem: expect.stringContaining('--dynamodb-endpoint must be a URL such as http://127.0.0.1:8000'),
      });
    });

    test('put reports how many items were stored before an invalid line', async () => {
      const stored = (text: string) => printed(put, 'Table', '--input', inputOf(text), ...where);
      await expect(stored('{"orderId":"a1"}\n{"orderId":"a2"}\n{"orderId":\n')).rejects.toMatchObject({
        code: 'NOT_STORED',
        problem: expect.stringMatching(/^2 stored, but not all: .*line 3: must be a JSON object$/),
      });
      await expect(stored('{"orderId":"a1"}\nnull\n')).rejects.toThrow('1 stored, but not all');
    });

    test('put – a number that JavaScript cannot represent exactly – rejects the item', async () => {
      const item =
        '{"orderId":"\\"9","status":"failed","amounts":[1,{"of":12345678901234567890}],"text":"12345678901234567890"}';
      await expect(printed(put, 'Table', '--item', item, ...where)).rejects.toMatchObject({
        code: 'INVALID_INPUT',
        problem: expect.stringContaining('--item, line 1: 12345678901234567890 has more digits'),
      });
    });

    test('put – an item without the sort key of an index – names the index and the attribute, and stores nothing', async () => {
      const item = { orderId: 'unsorted', status: 'unsorted', customer: 'unsorted' };
      await expect(printed(put, 'Table', '--item', JSON.stringify(item), ...where)).rejects.toMatchObject({
        code: 'INVALID_INPUT',
        problem: expect.stringMatching(
          /^--item, line 1: item\.createdAt must be .*index byStatus contains no item without/,
        ),
      });
      const Key = { orderId: { S: 'unsorted' } };
      const { Item } = await stack.clients.dynamodb.getItem({ TableName: stack.tables[0]!.name, Key });
      expect(Item).toBeUndefined();
    });

    test('put – items without the sort key of an index with sparse: true – stores these items, and prints their number for each index', async () => {
      const items = [1, 2, 3].map((n) => ({
        orderId: `sparse-${n}`,
        customer: 'sparse',
        ...(n === 1 && { createdAt: '2026-02-01' }),
      }));
      const input = inputOf([...items, { orderId: 'of-no-index' }].map((item) => `${JSON.stringify(item)}\n`).join(''));
      expect(await printed(put, 'Table', '--input', input, ...where)).toBe('4 items put into Shop/Orders/Table');
      expect(printedErrors()).toBe('index byCustomer does not contain items without createdAt: 2 items');
      expect(await days('byCustomer', '--value', 'sparse')).toEqual(['01']);
    });

    test('query aligns columns of text in any writing system, and does not split characters', async () => {
      const item = { orderId: '注文-1', status: 'écrit', createdAt: '2026', note: '👩‍👩‍👧'.repeat(60) };
      await printed(put, 'Table', '--item', JSON.stringify(item), ...where);
      await printed(put, 'Table', '--item', JSON.stringify({ ...item, orderId: 'o', note: 'short' }), ...where);
      const names = ['--project', 'orderId,note'];
      const [, rule, ...rows] = (await page('byStatus', '--value', 'écrit', ...names)).split('\n').slice(0, 4);
      expect(rule).toBe('  -------  ----------------------------------------');
      expect(rows.sort()).toEqual(['  o        short', `  注文-1   ${cutShort(printable(item.note), 40)}`]);
    });
  });

  describe('put and tail on a stream', () => {
    const records = (...args: string[]) => printed(tail, ...args, ...where);

    beforeAll(async () => {
      jest.spyOn(console, 'error').mockImplementation(() => {});
      const file = join(app, 'events.ndjson');
      const events = Array.from({ length: 40 }, (_, n) => ({ account: `a${n % 8}`, n }));
      writeFileSync(file, events.map((event) => `${JSON.stringify(event)}\n`).join(''));
      const text = await printed(put, 'Events', '--input', file, '--partition-key', 'account', ...where);
      expect(text).toMatch(/^40 records put into Shop\/Orders\/Events\n {2}shardId-000000000000: \d+/);
    });

    test('tail prints the records of each key in order, with their shard', async () => {
      const read = lines(await records('--from-start', '--once', '--json'));
      expect(read).toHaveLength(40);
      const ofA3 = read.filter(({ partitionKey }) => partitionKey === 'a3');
      expect(ofA3.map(({ data }) => JSON.parse(String(data)).n)).toEqual([3, 11, 19, 27, 35]);
      expect(new Set(ofA3.map(({ shardId }) => shardId)).size).toBe(1);
      expect(printedErrors()).toContain('read 40 records of 8 keys from 2 shards');
    });

    test('tail deaggregates records, reads a split shard before its children, and follows new records', async () => {
      const [{ name }] = stack.streams as [(typeof stack.streams)[0]];
      const { kinesis } = stack.clients;
      const following = printed(tail, '--key', 'one', '--limit', '20', '--json', ...where);
      const producer = new OrderedProducer(kinesis, { streamName: name, aggregation: true });
      let next = 0;
      const putFive = () =>
        producer.putAll(Array.from({ length: 5 }, () => ({ partitionKey: 'one', data: Buffer.from(String(next++)) })));
      await until(() => printedErrors().includes('reading'));
      await untilFollowed(putFive);
      const { Shards = [] } = await kinesis.listShards({ StreamName: name });
      for (const { ShardId, HashKeyRange } of Shards) {
        const [from, to] = [BigInt(HashKeyRange!.StartingHashKey!), BigInt(HashKeyRange!.EndingHashKey!)];
        await kinesis.splitShard({
          StreamName: name,
          ShardToSplit: ShardId,
          NewStartingHashKey: String((from + to) / 2n),
        });
        await active(name);
      }
      for (let round = 0; round < 4; round++) await putFive();
      await producer.close();
      const numbers = lines(await following).map(({ data }) => Number(data));
      expect(numbers).toEqual(Array.from({ length: 20 }, (_, n) => numbers[0]! + n));
    }, 60_000);

    /** Puts records until `tail` has printed a record. Then `tail` is reading the stream. */
    async function untilFollowed(putSome: () => Promise<unknown>): Promise<void> {
      const log = console.log as unknown as jest.SpyInstance;
      const before = log.mock.calls.length;
      await until(async () => {
        await putSome();
        // tail polls once a second. With faster puts, one poll could reach the limit of records.
        for (let looks = 0; looks < 40 && log.mock.calls.length === before; looks++) await setTimeout(50);
        return log.mock.calls.length > before;
      });
    }

    async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
      while (!(await holds())) await setTimeout(50);
    }

    async function active(StreamName: string): Promise<void> {
      await until(async () => {
        const { StreamDescriptionSummary } = await stack.clients.kinesis.describeStreamSummary({ StreamName });
        return StreamDescriptionSummary?.StreamStatus === 'ACTIVE';
      });
    }

    test('tail continues after an expired iterator, and misses no record', async () => {
      const { kinesis } = stack.clients;
      const StreamName = stack.streams[0]!.name;
      const { Shards = [] } = await kinesis.listShards({ StreamName });
      const { ShardId, HashKeyRange } = Shards.at(-1)!;
      let hasSlept = false;
      const getRecords: typeof kinesis.getRecords = (input: GetRecordsCommandInput) => {
        if (hasSlept) return kinesis.getRecords(input);
        hasSlept = true;
        throw Object.assign(new Error('the iterator is too old'), { name: 'ExpiredIteratorException' });
      };
      const client = {
        getRecords,
        getShardIterator: (input: GetShardIteratorCommandInput) => kinesis.getShardIterator(input),
        listShards: (input: ListShardsCommandInput) => kinesis.listShards(input),
      };
      const reader = await ShardReader.begin(client, StreamName, ShardId!, 'LATEST');
      const ExplicitHashKey = HashKeyRange!.StartingHashKey;
      await kinesis.putRecord({ StreamName, PartitionKey: 'a', ExplicitHashKey, Data: Buffer.from('meanwhile') });
      const read: string[] = [];
      await until(async () => {
        read.push(...(await reader.read()).map(({ Data }) => String(Buffer.from(Data!))));
        return reader.isAtTip;
      });
      expect(read).toEqual(['meanwhile']);
    });

    test('put – some records are rejected – names the line of every rejected record', async () => {
      const file = join(app, 'large.ndjson');
      const events = [{ account: 'b' }, { account: 'c', text: 'x'.repeat(2 ** 20) }, { account: 'c' }];
      writeFileSync(file, events.map((event) => `${JSON.stringify(event)}\n`).join(''));
      const putting = printed(put, 'Events', '--input', file, '--partition-key', 'account', ...where);
      await expect(putting).rejects.toMatchObject({
        code: 'NOT_STORED',
        problem: expect.stringMatching(/^1 stored, but not all: .*large\.ndjson, line 2: /),
      });
      for (const line of [2, 3]) expect(printedErrors()).toContain(`not stored: ${file}, line ${line}: `);
    });

    test('put reports how many records were put before an invalid line, and rejects a key that JavaScript would round', async () => {
      const putting = (text: string) =>
        printed(put, 'Events', '--input', inputOf(text), '--partition-key', 'a', ...where);
      await expect(putting('{"a":"1"}\n{}\n')).rejects.toThrow(
        /1 stored, but not all: .*line 2: a must be a text or a number \(it is the partition key\)/,
      );
      for (const key of ['12345678901234567890', '1e400']) {
        await expect(putting(`{"a":${key}}`)).rejects.toThrow('a must be a text or a number of at most 15 digits');
      }
    });

    test('put does not change the text of a line', async () => {
      const text = ' {"a": "as it is", "n": 12345678901234567890, "f": 1.50}';
      await printed(put, 'Events', '--item', text, '--partition-key', 'a', ...where);
      const [record] = lines(await records('--from-start', '--once', '--json', '--key', 'as it is'));
      expect(record!.data).toBe(text);
    });

    test('tail prints the policy that it needs', async () => {
      expect(JSON.parse(await records('--permissions')).Statement).toEqual([
        {
          Effect: 'Allow',
          Action: ['kinesis:GetRecords', 'kinesis:GetShardIterator', 'kinesis:ListShards'],
          Resource: [`arn:aws:kinesis:*:*:stream/${stack.streams[0]!.name}`],
        },
      ]);
    });
  });

  test('query and tail escape control characters in tables, and do not change the data in JSON', async () => {
    const hostile = 'a\u001b[2J\u009b31m\u202e\u2028\r\nshard 1 is fine';
    const item = { orderId: hostile, status: 'hostile', createdAt: hostile, [hostile]: hostile };
    await printed(put, 'Table', '--item', JSON.stringify(item), ...where);
    await printed(put, 'Events', '--item', JSON.stringify({ id: hostile }), '--partition-key', 'id', ...where);
    const ofItem = ['byStatus', '--value', 'hostile', ...where];
    const ofRecord = ['--from-start', '--once', '--key', hostile, ...where];
    for (const text of [await printed(query, ...ofItem), await printed(tail, ...ofRecord)]) {
      expect(text).toContain('a\\u001b[2J');
      expect(text).not.toMatch(/[^\n\P{C}]|[\u2028\u2029]/u);
      expect(text).not.toMatch(/^shard 1/m);
    }
    expect(JSON.parse(await printed(query, ...ofItem, '--json'))).toMatchObject(item);
    expect(JSON.parse(await printed(tail, ...ofRecord, '--json'))).toMatchObject({ partitionKey: hostile });
  });
});

describe('put and query on adaptive counts and on a table that is sharded by its own key', () => {
  test('the commands use the current counts', async () => {
    const app = synthesizeConsoleApp({ shardCount: 1 });
    const stack = await startLocal({ app });
    try {
      const where = ['--app', app, '--dynamodb-endpoint', stack.endpoints.dynamodb];
      const job = { jobId: 'j1', tenant: 't1', status: 'pending', createdAt: '2026' };
      await printed(put, 'Jobs', '--item', JSON.stringify(job), ...where);
      expect(await printed(query, 'byTenant', '--value', 't1', '--project', 'jobId', ...where)).toContain('j1');
      await printed(put, 'Sessions', '--item', '{"day":"monday","session":"s1"}', ...where);
      expect(await printed(query, 'Sessions', '--value', 'monday', '--json', ...where)).toContain('"session":"s1"');
      const { Statement } = JSON.parse(await printed(query, 'byTenant', '--permissions', ...where));
      expect(Statement.at(-1).Action).toEqual(['dynamodb:GetItem']);
    } finally {
      await stack.stop();
    }
  }, 60_000);
});
