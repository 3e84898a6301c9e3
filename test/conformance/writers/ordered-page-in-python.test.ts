import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import {
  type DynamoDbItem,
  fanOutQuery,
  plainItem,
  type ShardedConfig,
  type SortKeyValue,
  shardAttributes,
} from '../../../lib/core';
import { describeWhere } from '../../support/describe-where';
import { dynaliteForTests } from '../../support/dynalite';
import { createTable } from '../../support/sharded-tables';

/** Compares examples/other-languages/python/ordered_page.py with fanOutQuery on the emulator. */

const found = spawnSync('python3', ['-c', 'import boto3']).status === 0;

const PROGRAM = `
import json, sys
sys.dont_write_bytecode = True
import boto3
from botocore.config import Config
from ordered_page import ordered_page
dynamodb = boto3.resource("dynamodb", config=Config(max_pool_connections=20))
for line in sys.stdin:
    question = json.loads(line)
    table, value = dynamodb.Table(question["config"]["tableName"]), question.get("value")
    pages, cursor = [], None
    while cursor is not None or not pages:
        page = ordered_page(table, question["config"], value, **question["options"], cursor=cursor)
        pages.append([str(item["id"]) for item in page["items"]])
        cursor = page["cursor"]
    print(json.dumps(pages))
`;

const count = (write: number) => ({ write, read: write });
const common = {
  tableKey: ['id'],
  keyLayout: 'single-attribute' as const,
  sortKeyAttributes: ['at'],
  strategy: 'calculated' as const,
};
const byStatus: ShardedConfig = {
  ...common,
  tableName: 'Orders',
  indexName: 'byStatus',
  valueAttribute: 'status',
  shardAttribute: 'byStatusShard',
  shards: { default: count(2), byValue: { shipped: count(12) } },
  firstShard: 1,
  separator: '-',
  shardWidth: 2,
};
const byTime: ShardedConfig = {
  ...common,
  tableName: 'Events',
  indexName: 'byTime',
  shardAttribute: 'byTimeShard',
  shards: { default: count(5) },
};
const invoices: ShardedConfig = {
  ...common,
  tableName: 'Invoices',
  tableKey: ['key', 'at'],
  valueAttribute: 'status',
  shardAttribute: 'key',
  shardedBy: ['at'],
  separator: '#',
  firstShard: 0,
  shards: { default: count(7) },
};

describeWhere(found, 'python3 with boto3')('an ordered page in Python', () => {
  const { dynamoDb, endpoint } = dynaliteForTests();

  beforeAll(async () => {
    await createTable(dynamoDb, byStatus, { id: 'S', byStatusShard: 'S', at: 'S' });
    await createTable(dynamoDb, byTime, { id: 'S', byTimeShard: 'N', at: 'N' });
    await createTable(dynamoDb, invoices, { key: 'S', at: 'N' });
    for (let number = 0; number < 120; number++) {
      const id = `i-${number}`;
      const [day, status] = [String(10 + (number % 20)), number % 3 === 0 ? 'open' : 'shipped'];
      await put(byStatus, { id: { S: id }, status: { S: status }, at: { S: `2026-11-${day}` } });
      await put(byTime, { id: { S: id }, at: { N: String(number % 30) } });
      await put(invoices, { id: { S: id }, status: { S: status }, at: { N: String(number * 7) } });
    }
  }, 120_000);

  async function put(config: ShardedConfig, item: DynamoDbItem): Promise<void> {
    const plain = Object.fromEntries(Object.entries(item).map(([name, value]) => [name, Object.values(value)[0]]));
    const shard = Object.entries(shardAttributes(config, 'N' in item.at! ? { ...plain, at: Number(plain.at) } : plain));
    const added = shard.map(([name, value]) => [name, typeof value === 'number' ? { N: String(value) } : { S: value }]);
    await dynamoDb.putItem({ TableName: config.tableName, Item: { ...item, ...Object.fromEntries(added) } });
  }

  /** For each query, the ids of the items on each page that the Python program reads. */
  async function pagesOf(questions: object[]): Promise<string[][][]> {
    const child = spawn('python3', ['-c', PROGRAM], {
      env: {
        PATH: process.env.PATH,
        PYTHONPATH: resolve(join('examples', 'other-languages', 'python')),
        AWS_DEFAULT_REGION: 'us-east-1',
        AWS_ACCESS_KEY_ID: 'local',
        AWS_SECRET_ACCESS_KEY: 'local',
        AWS_ENDPOINT_URL_DYNAMODB: endpoint(),
      },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    child.stdin.end(questions.map((question) => `${JSON.stringify(question)}\n`).join(''));
    const [printed] = await Promise.all([text(child.stdout), once(child, 'close')]);
    return printed
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
  }

  interface Asked {
    config: ShardedConfig;
    value?: string;
    options: { since?: SortKeyValue; until?: SortKeyValue; descending?: boolean; limit: number };
  }

  const QUESTIONS: Asked[] = [
    { config: byStatus, value: 'shipped', options: { limit: 25 } },
    { config: byStatus, value: 'shipped', options: { limit: 7, descending: true } },
    { config: byStatus, value: 'open', options: { limit: 100, since: '2026-11-12', until: '2026-11-15' } },
    {
      config: byStatus,
      value: 'shipped',
      options: { limit: 10, since: '2026-11-12', until: '2026-11-20', descending: true },
    },
    { config: byStatus, value: 'none', options: { limit: 10 } },
    { config: byTime, options: { limit: 1 } },
    { config: byTime, options: { limit: 11, since: 9 } },
    { config: byTime, options: { limit: 120, until: 9, descending: true } },
    { config: invoices, value: 'shipped', options: { limit: 9 } },
    { config: invoices, value: 'open', options: { limit: 9, since: 100, until: 500, descending: true } },
  ];

  test('each page has the same items in the same order as a page of fanOutQuery', async () => {
    const results = await pagesOf(QUESTIONS);
    for (const [number, { config, value, options }] of QUESTIONS.entries()) {
      const { since, until, descending = false, limit } = options;
      const both = since !== undefined && until !== undefined;
      const sortKey = both
        ? { between: [since, until] }
        : { ...(since && { gte: since }), ...(until && { lte: until }) };
      const { items } = await fanOutQuery(dynamoDb, config, {
        ...(value !== undefined && { value }),
        ...((since ?? until) !== undefined && { sortKey: sortKey as { gte: SortKeyValue } }),
        order: descending ? 'descending' : 'ascending',
        limit: 1_000,
      });
      const at = new Map(items.map(plainItem<{ id: string; at: unknown }>).map(({ id, at: time }) => [id, time]));
      const pages = results[number]!;
      expect(pages.flat().map((id) => at.get(id))).toEqual([...at.values()]);
      expect(new Set(pages.flat())).toEqual(new Set(at.keys()));
      expect(pages.slice(0, -1).every(({ length }) => length === limit)).toBe(true);
    }
    expect(results.flat(2).length).toBeGreaterThan(400);
  }, 120_000);
});
