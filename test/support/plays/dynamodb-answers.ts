import type { AttributeValue, DynamoDB, Projection } from '@aws-sdk/client-dynamodb';
import { seededRandom } from '../../../lib/testing/seeded-random';

type Item = Record<string, AttributeValue>;
type Operation = 'putItem' | 'updateItem' | 'deleteItem' | 'getItem' | 'query' | 'scan' | Batch;
type Batch = 'batchWriteItem' | 'batchGetItem' | 'transactWriteItems' | 'transactGetItems';

interface Call {
  readonly operation: Operation;
  readonly input: Record<string, unknown>;
}

/** One difference of the services: the operation, and what each service answers. */
export type Difference = {
  readonly operation: Operation;
  readonly ours: string;
  readonly theirs: string;
  readonly input: unknown;
};

const TABLES = {
  Texts: { id: 'S' },
  Numbers: { id: 'N' },
  Bytes: { id: 'B' },
  Ranges: { id: 'S', at: 'N' },
} as const;
type TableName = keyof typeof TABLES;
const INDEXES = { byS: ['s', 'n'], byB: ['b'], keysOnly: ['s'], include: ['n'] } as const;

/** Creates tables with keys of all types, and with the same four indexes. */
export async function createComparedTables(service: DynamoDB): Promise<void> {
  const key = (names: readonly string[]) =>
    names.map((AttributeName, index) => ({
      AttributeName,
      KeyType: index === 0 ? ('HASH' as const) : ('RANGE' as const),
    }));
  const projections = {
    byS: { ProjectionType: 'ALL' },
    byB: { ProjectionType: 'ALL' },
    keysOnly: { ProjectionType: 'KEYS_ONLY' },
    include: { ProjectionType: 'INCLUDE', NonKeyAttributes: ['x'] },
  } as const;
  for (const [TableName, types] of Object.entries(TABLES)) {
    const attributes = { ...types, s: 'S', n: 'N', b: 'B' } as const;
    await service.createTable({
      TableName,
      BillingMode: 'PAY_PER_REQUEST',
      KeySchema: key(Object.keys(types)),
      AttributeDefinitions: Object.entries(attributes).map(([AttributeName, AttributeType]) => ({
        AttributeName,
        AttributeType,
      })),
      GlobalSecondaryIndexes: Object.entries(INDEXES).map(([IndexName, names]) => ({
        ...{ IndexName, KeySchema: key(names) },
        Projection: projections[IndexName as keyof typeof INDEXES] as Projection,
      })),
    });
    while ((await service.describeTable({ TableName })).Table?.TableStatus !== 'ACTIVE');
  }
}

/**
 * The accepted differences between the DynamoDB of a local run and DynamoDB Local. docs/models.md has a row for each of
 * these texts.
 */
export const KNOWN_DIFFERENCES: Readonly<Record<string, (difference: Difference) => boolean>> = {
  'a transaction with an invalid item, key or update is cancelled, and has a reason for each action': ({
    operation,
    ours,
    theirs,
  }) =>
    operation.startsWith('transact') &&
    [ours, theirs].every((text) => /^(TransactionCanceled|Validation)Exception/.test(text)) &&
    /Validation(Exception|Error)/.test(ours + theirs),
  'a transactional read returns no item if its projection matches no attribute': ({ operation, ours, theirs }) =>
    operation === 'transactGetItems' && ours === theirs.replaceAll('{"Item":{}}', '{}'),
  'an update to a wrong type of an index key is rejected before its condition is checked': ({
    operation,
    ours,
    theirs,
  }) =>
    operation === 'updateItem' &&
    ours === 'ValidationException' &&
    theirs.startsWith('ConditionalCheckFailedException'),
  'a page that ends with the last item has a LastEvaluatedKey': ({ ours, theirs }) =>
    ours.includes('"LastEvaluatedKey"') && ours.replace(/"LastEvaluatedKey":\{.*?\}\},/, '') === theirs,
  'an attribute that an index does not project is absent in the filter of a Scan': ({
    operation,
    ours,
    theirs,
    input,
  }) => {
    const { IndexName, FilterExpression } = Object(input);
    const isPartial = IndexName === 'keysOnly' || IndexName === 'include';
    return (
      operation === 'scan' &&
      isPartial &&
      FilterExpression !== undefined &&
      [ours, theirs].every((text) => text.startsWith('['))
    );
  },
};

/**
 * Sends the same random calls to two services, one after the other: each operation with all forms of expressions, key
 * types, sizes at limits, index layouts, conditions, pages and errors. Returns the differences.
 */
export async function playCalls(ours: DynamoDB, theirs: DynamoDB, { calls, seed }: { calls: number; seed: number }) {
  const draw = drawing(seededRandom(seed));
  const differences: Difference[] = [];
  const compared: Record<string, number> = {};
  for (let count = 0; count < calls; count += 1) {
    let call: Call | undefined = draw();
    if (call.operation === 'transactWriteItems') call.input.ClientRequestToken = `call ${count}`;
    // Reads continue with their next page, at most twice. Transactions are sent again.
    for (let page = 0; call !== undefined && page < 3; page += 1) {
      const [left, right]: Outcome[] = [await outcome(ours, call), await outcome(theirs, call)];
      const kind = `${call.operation} ${right!.error?.name ?? 'answered'}`;
      compared[kind] = (compared[kind] ?? 0) + 1;
      const [a, b]: string[] = [shapeOf(left!, call), shapeOf(right!, call)];
      if (a !== b) {
        differences.push({
          operation: call.operation,
          ours: a!,
          theirs: b!,
          input: call.input,
        });
        if (WRITES.has(call.operation)) await copyItems(theirs, ours);
      }
      call = a === b ? continued(call, left!, page) : undefined;
    }
  }
  return { compared, differences };
}

/** A condition that always fails. */
const NEVER = {
  ConditionCheck: { TableName: 'Texts', Key: { id: { S: 'missing' } }, ConditionExpression: 'attribute_exists(id)' },
};

/** The next page of a read, or the same transaction again: first unchanged, then with another condition. */
function continued(call: Call, { answer }: Outcome, page: number): Call | undefined {
  const { operation, input } = call;
  if (operation === 'transactWriteItems') {
    const TransactItems = [...(input.TransactItems as object[]), ...(page === 0 ? [] : [NEVER])];
    return { operation, input: { ...input, TransactItems } };
  }
  const ExclusiveStartKey: unknown = answer?.LastEvaluatedKey;
  return ExclusiveStartKey === undefined ? undefined : { operation, input: { ...input, ExclusiveStartKey } };
}

/** The responses of a service to transactions at the limits of DynamoDB, and to a repeated transaction. */
export async function transactionsAtLimits(service: DynamoDB): Promise<unknown[]> {
  const put = (id: string, length: number) => ({
    Put: { TableName: 'Texts', Item: { id: { S: id }, x: { S: 'x'.repeat(length) } } },
  });
  const large = (count: number) => Array.from({ length: count }, (_, index) => put(`large-${index}`, 399_000));
  const repeated = { ClientRequestToken: 'repeated', ReturnConsumedCapacity: 'TOTAL' as const };
  const inOtherOrder = { Put: { Item: { x: { S: 'x'.repeat(5_000) }, id: { S: 'large' } }, TableName: 'Texts' } };
  const outcomes: unknown[] = [];
  for (const input of [
    { TransactItems: large(11) },
    { TransactItems: large(10) },
    { ...repeated, TransactItems: [put('large', 5_000), put('small', 1)] },
    { ...repeated, TransactItems: [inOtherOrder, put('small', 1)] },
    { ...repeated, TransactItems: [put('large', 5_001), put('small', 1)] },
    { ClientRequestToken: 'x'.repeat(36), TransactItems: [put('token', 1)] },
    { ClientRequestToken: 'x'.repeat(37), TransactItems: [put('token', 2)] },
  ]) {
    const outcome = await service.transactWriteItems(input).then(
      ({ ConsumedCapacity }) => ConsumedCapacity?.map(({ CapacityUnits }) => CapacityUnits) ?? 'done',
      ({ name }: Error) => name,
    );
    outcomes.push(outcome);
  }
  return outcomes;
}

const WRITES: ReadonlySet<Operation> = new Set([
  ...(['putItem', 'updateItem', 'deleteItem', 'batchWriteItem', 'transactWriteItems'] as const),
]);

/** After a difference of a write, continues with the same items in both services. */
async function copyItems(from: DynamoDB, to: DynamoDB): Promise<void> {
  for (const [TableName, types] of Object.entries(TABLES)) {
    const { Items: left = [] } = await to.scan({ TableName });
    const { Items: kept = [] } = await from.scan({ TableName });
    for (const item of left) {
      const Key = Object.fromEntries(Object.keys(types).map((name) => [name, item[name]!]));
      await to.deleteItem({ TableName, Key });
    }
    for (const item of kept) await to.putItem({ TableName, Item: item });
  }
}

interface Outcome {
  // biome-ignore lint/suspicious/noExplicitAny: an output is its operation's
  readonly answer?: any;
  // biome-ignore lint/suspicious/noExplicitAny: an error is its operation's
  readonly error?: any;
}

async function outcome(service: DynamoDB, { operation, input }: Call): Promise<Outcome> {
  try {
    const send = service[operation] as (input: unknown) => Promise<object>;
    return { answer: await send.call(service, input) };
  } catch (error) {
    return { error };
  }
}

/**
 * A text for the compared part of an outcome: the attributes in any order, the name of an error, and the item of a failed
 * condition. Messages are not compared, because DynamoDB Local has other messages than DynamoDB.
 */
function shapeOf({ answer, error }: Outcome, { input }: Call): string {
  if (error !== undefined) {
    const reasons = error.CancellationReasons?.map(({ Code, Item: old }: { Code: string; Item?: Item }) => [
      Code,
      plain(old),
    ]);
    return [
      error.name,
      ...(error.Item ? [JSON.stringify(plain(error.Item))] : []),
      ...(reasons ? [JSON.stringify(reasons)] : []),
    ].join(' ');
  }
  const { $metadata: _, ConsumedCapacity: consumed, ItemCollectionMetrics: __, ...rest } = inAnyOrder(answer, input);
  const isRequested = ['TOTAL', 'INDEXES'].includes(String(input.ReturnConsumedCapacity));
  const capacity = isRequested ? [consumed ?? []].flat().map((each) => Object.keys(each).sort()) : [];
  return JSON.stringify([plain(rest), capacity]);
}

/**
 * A Scan and a BatchGetItem have no order, and neither have the items of a Query with the same sort key. The pages of such
 * a read have the same number of items only if the read is complete.
 */
function inAnyOrder(
  answer: Outcome['answer'],
  { KeyConditionExpression: isQuery, IndexName, Limit, TotalSegments, ExclusiveStartKey }: Call['input'],
) {
  const { Items: items, Responses: responses, ...rest } = answer;
  const sorted = (list: Item[]) => list.map((item) => JSON.stringify(plain(item))).sort();
  if (responses && !Array.isArray(responses)) {
    const byTable = Object.entries<Item[]>(responses).map(([name, list]) => [name, sorted(list)]);
    return { ...rest, Responses: Object.fromEntries(byTable) };
  }
  if (rest.ScannedCount === undefined) return answer;
  if (isQuery && IndexName === undefined) return answer;
  const isWhole = (Limit ?? TotalSegments ?? ExclusiveStartKey) === undefined;
  return isWhole ? { ...rest, ...(items && { Items: sorted(items) }) } : { ConsumedCapacity: rest.ConsumedCapacity };
}

function plain(value: unknown): unknown {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64').slice(0, 40);
  if (typeof value === 'string') return value.length > 60 ? `${value.slice(0, 20)}…${value.length}` : value;
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([name, each]) => [
    name,
    /^[SNB]S$/.test(name) ? [...each].map(plain).sort() : plain(each),
  ]);
  return Object.fromEntries(entries.sort((a, b) => (String(a[0]) < String(b[0]) ? -1 : 1)));
}

function drawing(random: () => number): () => Call {
  const chance = (probability: number) => random() < probability;
  const oneOf = <T>(choices: readonly T[]): T => choices[Math.floor(random() * choices.length)]!;
  const some = <T extends object>(probability: number, value: () => T): Partial<T> =>
    chance(probability) ? value() : {};
  const text = (length: number): AttributeValue => ({ S: 'x'.repeat(length) });
  const bytes = (length: number): AttributeValue => ({ B: new Uint8Array(length).fill(1) });
  const nested = (depth: number): AttributeValue => (depth === 0 ? { N: '1' } : { M: { m: nested(depth - 1) } });

  const valid = {
    S: () => ({ S: oneOf(['a', 'b', 'ab', 'é']) }) as AttributeValue,
    N: () => ({ N: oneOf(['1', '2', '-1', '0.5', '1e3', '0']) }) as AttributeValue,
    B: () => ({ B: Uint8Array.from([oneOf([1, 2])]) }) as AttributeValue,
  };
  /** A value that can be invalid as a key. */
  const odd = (): AttributeValue =>
    oneOf<() => AttributeValue>([
      ...[() => text(0), () => bytes(0), () => text(1_024), () => text(1_025), () => text(2_048), () => text(2_049)],
      ...[
        () => bytes(1_025),
        () => bytes(2_049),
        () => ({ NULL: true }),
        () => ({ BOOL: true }),
        () => ({ SS: ['a'] }),
      ],
      ...[() => ({ M: {} }), () => ({ L: [] }), valid.S, valid.N, valid.B],
    ])();
  const other = (): AttributeValue =>
    oneOf<() => AttributeValue>([
      ...[valid.S, valid.N, valid.B, () => ({ NULL: true }), () => ({ BOOL: false }), () => text(0), () => bytes(0)],
      ...[
        () => ({ L: [{ S: 'a' }, { N: '1' }] }),
        () => ({ M: { k: { N: '1' } } }),
        () => ({ SS: ['a', 'b'] }),
        () => ({ NS: ['1', '2'] }),
      ],
      ...[
        () => ({ SS: [] }),
        () => ({ SS: ['a', 'a'] }),
        () => nested(oneOf([30, 31, 32])),
        () => text(oneOf([5_000, 300_000, 409_600])),
      ],
      () => ({ N: oneOf(['9'.repeat(38), '9'.repeat(39), '1e125', '1e126', '1e-130', '1e-131', 'x', '']) }),
    ])();
  const tableName = (): TableName => oneOf(Object.keys(TABLES) as TableName[]);
  const keyOf = (table: TableName, wrong = 0.03): Item => {
    const types = Object.entries(TABLES[table]) as [string, keyof typeof valid][];
    const key = Object.fromEntries(types.map(([name, type]) => [name, chance(wrong) ? odd() : valid[type]()]));
    if (chance(wrong)) delete key[oneOf(Object.keys(key))];
    return chance(wrong) ? { ...key, s: valid.S() } : key;
  };
  const attributes = (): Item => ({
    ...some(0.6, () => ({ s: chance(0.2) ? odd() : valid.S() })),
    ...some(0.6, () => ({ n: chance(0.2) ? odd() : valid.N() })),
    ...some(0.4, () => ({ b: chance(0.2) ? odd() : valid.B() })),
    ...some(0.6, () => ({ x: other() })),
  });
  const condition = () => {
    const [ConditionExpression, values] = oneOf<[string, Item?]>([
      ...([
        ['attribute_exists(id)'],
        ['attribute_not_exists(id)'],
        ['attribute_not_exists(s)'],
        ['s = :c', { ':c': valid.S() }],
      ] as [string, Item?][]),
      ['n BETWEEN :c AND :d', { ':c': { N: '0' }, ':d': { N: '1' } }],
      ['n IN (:c, :d) OR attribute_type(x, :t)', { ':c': { N: '0' }, ':d': { N: '1' }, ':t': { S: 'L' } }],
      ['begins_with(s, :c) AND NOT contains(x, :c)', { ':c': { S: 'a' } }],
      ['size(x) > :c', { ':c': { N: '1' } }],
      ['s = :c AND', { ':c': { S: 'a' } }],
      ['x[0] = :c', { ':c': { S: 'a' } }],
      ['x.k <> :unused', { ':c': { S: 'a' } }],
      ['s = s AND n = :c', { ':c': { N: '1' } }],
      [
        Array.from({ length: oneOf([100, 101]) }, () => 's = :c')
          .join(' OR ')
          .replace('s', 'n'),
        { ':c': { S: 'a' } },
      ],
    ]);
    return { ConditionExpression, ...(values && { ExpressionAttributeValues: values }) };
  };
  const conditional = () => ({
    ...some(0.5, condition),
    ...some(0.5, () => ({ ReturnValuesOnConditionCheckFailure: oneOf(['ALL_OLD', 'NONE']) })),
  });
  const capacity = () => some(0.3, () => ({ ReturnConsumedCapacity: oneOf(['NONE', 'TOTAL', 'INDEXES']) }));
  const update = () =>
    oneOf<() => [string, Item?]>([
      () => ['SET s = :v', { ':v': chance(0.4) ? odd() : valid.S() }],
      () => ['SET n = :v, x = :w', { ':v': chance(0.4) ? odd() : valid.N(), ':w': other() }],
      () => ['SET b = :v', { ':v': chance(0.4) ? odd() : valid.B() }],
      () => ['ADD n :v', { ':v': valid.N() }],
      () => ['SET n = n + :v', { ':v': valid.N() }],
      () => ['SET n = if_not_exists(n, :v) - :v', { ':v': valid.N() }],
      () => ['SET x = list_append(x, :v)', { ':v': { L: [valid.S()] } }],
      () => ['REMOVE s, x.k'],
      () => ['DELETE x :v', { ':v': { SS: ['a'] } }],
      () => ['SET x.k = :v', { ':v': other() }],
      () => ['SET s = :v SET n = :v', { ':v': valid.S() }],
      () => ['SET id = :v', { ':v': valid.S() }],
      () => ['REMOVE n'],
    ])();
  const updateOf = (table: TableName, more: { ExpressionAttributeValues?: Item }) => {
    const [UpdateExpression, values] = update();
    const all = { ...values, ...more.ExpressionAttributeValues };
    return {
      ...{ TableName: table, Key: keyOf(table), ...more, UpdateExpression },
      ...(Object.keys(all).length > 0 && { ExpressionAttributeValues: all }),
    };
  };
  const putOf = (table: TableName) => ({ TableName: table, Item: { ...attributes(), ...keyOf(table) } });
  const returns = (names: readonly string[]) => some(0.4, () => ({ ReturnValues: oneOf(names) }));
  const projection = () =>
    some(0.3, () => ({ ProjectionExpression: oneOf(['x', 's, x.k', 'x[0]', 'missing', 's, s', 'id, n']) }));
  const list = <T>(most: number, each: () => T): T[] => Array.from({ length: Math.floor(random() * (most + 1)) }, each);
  const apart = <T>(items: T[], nameOf: (item: T) => unknown): T[] =>
    chance(0.1) ? items : [...new Map(items.map((item) => [JSON.stringify(nameOf(item)), item])).values()];
  const place = (table: TableName, item: Item) => Object.keys(TABLES[table]).map((name) => item[name]);

  const page = () => ({
    ...some(0.5, () => ({ Limit: oneOf([1, 2, 5, 0]) })),
    ...some(0.3, () => ({
      Select: oneOf(['ALL_ATTRIBUTES', 'ALL_PROJECTED_ATTRIBUTES', 'COUNT', 'SPECIFIC_ATTRIBUTES']),
    })),
    ...projection(),
    ...some(0.1, () => ({ ConsistentRead: true })),
    ...capacity(),
  });
  const filter = () => {
    const { ConditionExpression, ExpressionAttributeValues } = condition() as {
      ConditionExpression: string;
      ExpressionAttributeValues?: Item;
    };
    return { FilterExpression: ConditionExpression, values: ExpressionAttributeValues };
  };
  const index = () => oneOf(Object.keys(INDEXES) as (keyof typeof INDEXES)[]);

  const draws: Record<Operation, () => Record<string, unknown>> = {
    putItem: () => ({
      ...putOf(tableName()),
      ...conditional(),
      ...returns(['NONE', 'ALL_OLD', 'ALL_NEW']),
      ...capacity(),
    }),
    updateItem: () => ({
      ...updateOf(tableName(), conditional()),
      ...returns(['NONE', 'ALL_OLD', 'ALL_NEW', 'UPDATED_OLD', 'UPDATED_NEW']),
      ...capacity(),
    }),
    deleteItem: () => {
      const table = tableName();
      return {
        TableName: table,
        Key: keyOf(table),
        ...conditional(),
        ...returns(['NONE', 'ALL_OLD', 'UPDATED_OLD']),
        ...capacity(),
      };
    },
    getItem: () => {
      const table = tableName();
      const TableName = chance(0.08) ? 'Missing' : table;
      return {
        TableName,
        Key: keyOf(table),
        ...projection(),
        ...some(0.3, () => ({ ConsistentRead: true })),
        ...capacity(),
      };
    },
    batchWriteItem: () => {
      const table = tableName();
      const most = chance(0.05) ? 27 : 5;
      const requests = list(most, () =>
        chance(0.7) ? { PutRequest: { Item: putOf(table).Item } } : { DeleteRequest: { Key: keyOf(table) } },
      );
      const named = apart(requests, (each) => place(table, (each.PutRequest?.Item ?? each.DeleteRequest?.Key)!));
      return { RequestItems: { [table]: named }, ...capacity() };
    },
    batchGetItem: () => {
      const table = tableName();
      const keys = chance(0.03)
        ? Array.from({ length: 101 }, (_, n) => ({ id: { S: `${n}` } }))
        : list(5, () => keyOf(table));
      return {
        RequestItems: { [table]: { Keys: apart(keys as Item[], (each) => place(table, each)), ...projection() } },
        ...capacity(),
      };
    },
    transactWriteItems: () => {
      const actions = list(chance(0.02) ? 101 : 4, () => {
        const table = tableName();
        const kind = oneOf(['Put', 'Update', 'Delete', 'ConditionCheck']);
        if (kind === 'Put') return { Put: { ...putOf(table), ...conditional() } };
        if (kind === 'Update') return { Update: updateOf(table, conditional()) };
        return {
          [kind]: { TableName: table, Key: keyOf(table), ...(kind === 'Delete' ? conditional() : condition()) },
        };
      });
      const named = apart(actions, (each) => {
        const {
          TableName,
          Key,
          Item: item,
        } = Object.values(each)[0] as { TableName: TableName; Key?: Item; Item?: Item };
        return [TableName, place(TableName, (Key ?? item)!)];
      });
      return { TransactItems: named, ...capacity() };
    },
    transactGetItems: () => {
      const gets = list(4, () => {
        const table = tableName();
        return { Get: { TableName: table, Key: keyOf(table), ...projection() } };
      });
      return { TransactItems: apart(gets, ({ Get }) => [Get.TableName, Get.Key]), ...capacity() };
    },
    query: () => {
      const [table, IndexName] = [tableName(), chance(0.6) ? index() : undefined];
      const names = IndexName === undefined ? Object.keys(TABLES[table]) : INDEXES[IndexName];
      const types = { ...TABLES[table], s: 'S', n: 'N', b: 'B' } as Record<string, keyof typeof valid>;
      const hash = chance(0.05) ? odd() : valid[types[names[0]!]!]();
      const range = names[1];
      const [condition, values] = oneOf<[string, Item]>([
        ['#h = :h', {}],
        ...(range
          ? ([
              ['#h = :h AND #r > :r', { ':r': valid.N() }],
              ['#r BETWEEN :r AND :q AND #h = :h', { ':r': { N: '0' }, ':q': { N: '5' } }],
              ['#h = :h AND #r = :r', { ':r': chance(0.3) ? odd() : valid.N() }],
              ['#h = :h AND begins_with(#r, :r)', { ':r': valid.N() }],
              ['#h = :h OR #r = :r', { ':r': valid.N() }],
            ] as [string, Item][])
          : []),
      ]);
      const filtered = chance(0.3) ? filter() : undefined;
      return {
        ...{ TableName: table, ...(IndexName && { IndexName }), KeyConditionExpression: condition },
        ExpressionAttributeNames: { '#h': names[0]!, ...(condition.includes('#r') && { '#r': range! }) },
        ExpressionAttributeValues: { ':h': hash, ...values, ...filtered?.values },
        ...(filtered && { FilterExpression: filtered.FilterExpression }),
        ...some(0.5, () => ({ ScanIndexForward: chance(0.5) })),
        ...page(),
      };
    },
    scan: () => {
      const filtered = chance(0.3) ? filter() : undefined;
      return {
        ...{ TableName: tableName(), ...some(0.5, () => ({ IndexName: index() })) },
        ...(filtered && {
          FilterExpression: filtered.FilterExpression,
          ...(filtered.values && { ExpressionAttributeValues: filtered.values }),
        }),
        ...some(0.1, () => ({ Segment: 1, TotalSegments: oneOf([1, 2]) })),
        ...page(),
      };
    },
  };
  const operations: Operation[] = [
    ...([
      'putItem',
      'putItem',
      'putItem',
      'updateItem',
      'updateItem',
      'deleteItem',
      'getItem',
      'query',
      'query',
      'scan',
    ] as const),
    ...(['batchWriteItem', 'batchGetItem', 'transactWriteItems', 'transactWriteItems', 'transactGetItems'] as const),
  ];
  return () => {
    const operation = oneOf(operations);
    return { operation, input: draws[operation]() };
  };
}
