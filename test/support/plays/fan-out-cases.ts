import { DynamoDB } from '@aws-sdk/client-dynamodb';
import fc from 'fast-check';
import {
  type FanOutRequest,
  fanOutQuery,
  lightQueryClient,
  type QueryClient,
  type ShardedIndexConfig,
} from '../../../lib/core';
import {
  createShardedTable,
  type Entry,
  keyOf,
  type Shape,
  type ShardedTable,
  SORT_KEYS,
  VALUES,
} from '../sharded-tables';

/** A random query. The bounds of its condition are positions in the ordered list of sort keys. */
interface Query {
  value: number;
  order: FanOutRequest['order'];
  condition: { kind: string; bounds: [number, number] } | undefined;
  filtered: boolean;
}

/** A change that happens before the next page is read. */
interface Step {
  limit: number;
  projected: boolean;
  /** The number of additional shards that readers query and writers do not use. */
  moreShards: number;
  deleted: number[];
  restored: boolean;
}

const KINDS = ['eq', 'lt', 'lte', 'gt', 'gte', 'between', 'beginsWith'];

const query: fc.Arbitrary<Query> = fc.record({
  value: fc.nat(2),
  order: fc.constantFrom('ascending', 'descending', 'unordered', undefined),
  condition: fc.option(fc.record({ kind: fc.constantFrom(...KINDS), bounds: fc.tuple(fc.nat(5), fc.nat(5)) }), {
    nil: undefined,
  }),
  filtered: fc.boolean(),
});

const step: fc.Arbitrary<Step> = fc.record({
  limit: fc.oneof(fc.integer({ min: 1, max: 8 }), fc.integer({ min: 8, max: 150 })),
  projected: fc.boolean(),
  moreShards: fc.nat(3),
  deleted: fc.array(fc.nat(), { maxLength: 6 }),
  restored: fc.boolean(),
});

/**
 * Reads all pages of random queries while items are inserted and deleted and the shard count changes. Compares each page with a
 * filtered and sorted list. The oracle uses no code of the library. It uses only the written items, their shards, and the order of
 * the service for equal sort keys.
 */
export function describeFanOutCases(
  shapes: readonly Shape[],
  casesEach: number,
  start: () => Promise<{ endpoint: string; stop(): Promise<void> }>,
): void {
  let service: { endpoint: string; stop(): Promise<void> };
  let dynamoDb: DynamoDB;

  beforeAll(async () => {
    service = await start();
    const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };
    dynamoDb = new DynamoDB({ region: 'us-east-1', credentials, endpoint: service.endpoint });
  }, 60_000);

  afterAll(async () => {
    dynamoDb?.destroy();
    await service?.stop();
  }, 60_000);

  test.each(shapes.map((shape, number) => ({ name: nameOf(shape), shape, number })))(
    '$name',
    async ({ shape, number }) => {
      const table = await createShardedTable(dynamoDb, shape, number);
      const clients: QueryClient[] = [dynamoDb, lightQueryClient(dynamoDb)];
      await fc.assert(
        fc.asyncProperty(query, fc.array(step, { minLength: 1, maxLength: 30 }), fc.nat(1), (asked, steps, client) =>
          checkPages(dynamoDb, clients[client]!, table, asked, steps),
        ),
        { numRuns: casesEach },
      );
    },
    600_000,
  );
}

function nameOf({ keyLayout, value, sortKey, tieBreaker, compositeTableKey }: Shape): string {
  return [
    keyLayout,
    value ? `by value (${value})` : 'over the whole table',
    sortKey ? `sorted (${sortKey})` : 'unsorted',
    tieBreaker && 'with a tie-breaker',
    compositeTableKey && 'of a table with a sort key',
  ]
    .filter(Boolean)
    .join(', ');
}

async function checkPages(
  dynamoDb: DynamoDB,
  client: QueryClient,
  table: ShardedTable,
  asked: Query,
  steps: readonly Step[],
): Promise<void> {
  const { shape, config, entries } = table;
  const present = new Set(entries);
  const compare = comparator(asked.order);
  let last: Entry | undefined;
  let cursor: string | undefined;
  try {
    for (let page = 0; ; page++) {
      const step = steps[page % steps.length]!;
      if (page > 0) await change(dynamoDb, table, present, step);
      const rest = [...present]
        .filter((entry) => isAskedFor(shape, asked, entry) && (last === undefined || compare(entry, last) > 0))
        .sort(compare);
      const answer = await fanOutQuery(client, withMoreShards(config, step.moreShards), {
        ...requestOf(shape, asked),
        limit: step.limit,
        cursor,
        ...(step.projected && { projection: ['id'] }),
      });
      expect(answer.items.map(({ id }) => (id as { S: string }).S)).toEqual(idsOf(rest.slice(0, step.limit)));
      if (step.projected) for (const item of answer.items) expect(Object.keys(item)).toEqual(['id']);
      else expect(answer.items).toEqual(rest.slice(0, step.limit).map(({ item }) => item));
      if (answer.cursor === undefined) {
        expect(rest.length).toBeLessThanOrEqual(step.limit);
        return;
      }
      cursor = answer.cursor;
      last = rest[step.limit - 1];
    }
  } finally {
    await restore(dynamoDb, table, present);
  }
}

const idsOf = (entries: readonly Entry[]) => entries.map(({ id }) => id);

/** The order of the query: by sort key, then by shard, and then as in the service. */
function comparator(order: FanOutRequest['order']): (a: Entry, b: Entry) => number {
  if (order === 'unordered') return (a, b) => a.shard - b.shard || a.rank - b.rank;
  const direction = order === 'descending' ? -1 : 1;
  return (a, b) =>
    direction * (a.sortKey - b.sortKey || a.tieBreaker - b.tieBreaker || a.shard - b.shard || a.rank - b.rank);
}

function isAskedFor(shape: Shape, { value, condition, filtered }: Query, entry: Entry): boolean {
  if (shape.value !== undefined && entry.value !== indexValue(shape, value)) return false;
  if (filtered && entry.owner !== 'ann') return false;
  if (shape.sortKey === undefined || condition === undefined) return true;
  const [bound, other] = boundsOf(shape, condition);
  switch (kindOf(shape, condition)) {
    case 'eq':
      return entry.sortKey === bound;
    case 'lt':
      return entry.sortKey < bound;
    case 'lte':
      return entry.sortKey <= bound;
    case 'gt':
      return entry.sortKey > bound;
    case 'gte':
      return entry.sortKey >= bound;
    case 'between':
      return entry.sortKey >= Math.min(bound, other) && entry.sortKey <= Math.max(bound, other);
    default:
      return Buffer.from(keyAt(shape, entry.sortKey) as string)
        .toString('latin1')
        .startsWith(Buffer.from(keyAt(shape, bound) as string).toString('latin1'));
  }
}

function requestOf(shape: Shape, { value, order, condition, filtered }: Query): FanOutRequest {
  return {
    ...(shape.value && { value: indexValue(shape, value) }),
    ...(order && { order }),
    ...(shape.sortKey && condition && { sortKey: sortKeyOf(shape, condition) }),
    ...(filtered && {
      filterExpression: '#owner = :ann',
      expressionAttributeNames: { '#owner': 'owner' },
      expressionAttributeValues: { ':ann': { S: 'ann' } },
    }),
  };
}

function sortKeyOf(shape: Shape, condition: NonNullable<Query['condition']>): FanOutRequest['sortKey'] {
  const kind = kindOf(shape, condition);
  const [bound, other] = boundsOf(shape, condition);
  const between = [Math.min(bound, other), Math.max(bound, other)].map((index) => keyAt(shape, index));
  return { [kind]: kind === 'between' ? between : keyAt(shape, bound) } as unknown as FanOutRequest['sortKey'];
}

/** A number has no prefix, so the condition becomes an equality. */
function kindOf({ sortKey }: Shape, { kind }: NonNullable<Query['condition']>): string {
  return kind === 'beginsWith' && sortKey === 'N' ? 'eq' : kind;
}

function boundsOf({ sortKey }: Shape, { bounds }: NonNullable<Query['condition']>): [number, number] {
  const { length } = SORT_KEYS[sortKey!];
  return [bounds[0] % length, bounds[1] % length];
}

const keyAt = ({ sortKey }: Shape, index: number) => SORT_KEYS[sortKey!][index]!;

function indexValue({ value }: Shape, index: number): string | number {
  return VALUES[value!][index]!;
}

function withMoreShards(config: ShardedIndexConfig, more: number): ShardedIndexConfig {
  const widen = ({ write, read }: { write: number; read: number }) => ({ write, read: read + more });
  const { byValue } = config.shards;
  return {
    ...config,
    shards: {
      default: widen(config.shards.default),
      ...(byValue && {
        byValue: Object.fromEntries(Object.entries(byValue).map(([value, count]) => [value, widen(count)])),
      }),
    },
  };
}

async function change(
  dynamoDb: DynamoDB,
  table: ShardedTable,
  present: Set<Entry>,
  { deleted, restored }: Step,
): Promise<void> {
  if (restored) await restore(dynamoDb, table, present);
  for (const number of deleted) {
    const entry = table.entries[number % table.entries.length]!;
    present.delete(entry);
    await dynamoDb.deleteItem({ TableName: table.config.tableName, Key: keyOf(table, entry) });
  }
}

async function restore(dynamoDb: DynamoDB, { config, entries }: ShardedTable, present: Set<Entry>): Promise<void> {
  for (const entry of entries) {
    if (present.has(entry)) continue;
    await dynamoDb.putItem({ TableName: config.tableName, Item: entry.item });
    present.add(entry);
  }
}
