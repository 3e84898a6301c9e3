import { isDeepStrictEqual } from 'node:util';
import type { KeyLoad } from '../../../lib/testing/dynamodb-limits';
import type { Call } from '../emulators/gated-service';
import { type JsonItem, jsonItemBytes } from '../json-item';

interface IndexShape {
  readonly name: string;
  readonly partition: readonly string[];
  readonly keys: readonly string[];
  /** The projected attributes of the index. Undefined if all attributes are projected. */
  readonly projected?: ReadonlySet<string>;
}

/** The keys and indexes of a table, which determine the partition keys that a request reads or writes. */
export interface TableShape {
  readonly arn: string;
  readonly partition: readonly string[];
  readonly keys: readonly string[];
  readonly indexes: readonly IndexShape[];
}

/** A write of one item: its operation with the request, the table and the key of the item. */
export interface Write {
  readonly operation: string;
  readonly input: JsonItem;
  readonly table: TableShape;
  readonly key: JsonItem;
}

const SINGLE_WRITES: readonly string[] = ['PutItem', 'UpdateItem', 'DeleteItem'];

/** Each write of a request, as the request of a single operation. A condition check is not a write. */
export function singleWrites(operation: string, input: JsonItem): [operation: string, input: JsonItem][] {
  if (operation === 'TransactWriteItems') {
    return [input.TransactItems ?? []].flat().map((action) => {
      const [kind, request] = Object.entries(Object(action))[0] ?? [];
      return [`${kind}Item`, Object(request)];
    });
  }
  if (operation !== 'BatchWriteItem') return SINGLE_WRITES.includes(operation) ? [[operation, input]] : [];
  return Object.entries(Object(input.RequestItems)).flatMap(([TableName, requests]) =>
    (Array.isArray(requests) ? requests : []).map((request): [string, JsonItem] => {
      const { PutRequest, DeleteRequest } = Object(request);
      return [PutRequest ? 'PutItem' : 'DeleteItem', { TableName, ...PutRequest, ...DeleteRequest }];
    }),
  );
}

interface KeyElement {
  AttributeName: string;
  KeyType: string;
}

/** Caches the shapes of tables, until `forget` is called after a change of a table. */
export class TableShapes {
  private readonly shapes = new Map<string, Promise<TableShape | undefined>>();

  constructor(private readonly call: Call) {}

  /** The shape of a table. Undefined if the table does not exist. DynamoDB then rejects the request. */
  of(table: string): Promise<TableShape | undefined> {
    const name = tableName(table);
    let shape = this.shapes.get(name);
    if (shape === undefined) {
      shape = this.describe(name);
      this.shapes.set(name, shape);
      shape.then((found) => found === undefined && this.forget(name)).catch(() => this.forget(name));
    }
    return shape;
  }

  /** The write of a request. Undefined if the request writes no item, or if DynamoDB will reject it. */
  async write(operation: string, input: JsonItem): Promise<Write | undefined> {
    if (!SINGLE_WRITES.includes(operation)) return undefined;
    const table = await this.of(String(input.TableName));
    const named = input.Item ?? input.Key;
    if (table === undefined || table.keys.some((name) => named?.[name] === undefined)) return undefined;
    return { operation, input, table, key: Object.fromEntries(table.keys.map((name) => [name, named[name]])) };
  }

  forget(table: string): void {
    this.shapes.delete(tableName(table));
  }

  private async describe(TableName: string): Promise<TableShape | undefined> {
    const { status, output } = await this.call('DescribeTable', { TableName });
    if (status !== 200) return undefined;
    const { TableArn, KeySchema, GlobalSecondaryIndexes = [] } = output.Table;
    return {
      arn: TableArn,
      ...keysOf(KeySchema),
      indexes: GlobalSecondaryIndexes.map(
        (index: {
          IndexName: string;
          KeySchema: KeyElement[];
          Projection: { ProjectionType: string; NonKeyAttributes?: string[] };
        }): IndexShape => {
          const own = keysOf(index.KeySchema);
          const { ProjectionType, NonKeyAttributes = [] } = index.Projection;
          const attributes = [...keysOf(KeySchema).keys, ...own.keys, ...NonKeyAttributes];
          return {
            name: index.IndexName,
            ...own,
            projected: ProjectionType === 'ALL' ? undefined : new Set(attributes),
          };
        },
      ),
    };
  }
}

/** The item with a key, as it is now. */
export async function storedItem(call: Call, TableName: string, Key: JsonItem): Promise<JsonItem | undefined> {
  return (await call('GetItem', { TableName, Key, ConsistentRead: true })).output.Item;
}

/** The name of a table in its name or its ARN. */
export function tableName(nameOrArn: string): string {
  return nameOrArn.split(':table/')[1]?.split('/')[0] ?? nameOrArn;
}

function keysOf(schema: readonly KeyElement[]): { partition: string[]; keys: string[] } {
  const keys = schema.map(({ AttributeName }) => AttributeName);
  return {
    partition: schema.filter(({ KeyType }) => KeyType === 'HASH').map(({ AttributeName }) => AttributeName),
    keys,
  };
}

/** A string that identifies the partition key of an item. Undefined if the item lacks one of the key attributes. */
export function partitionKeyOf(attributes: readonly string[], item: JsonItem): string | undefined {
  const values = attributes.map((name) => item[name]);
  if (values.includes(undefined)) return undefined;
  return values.map((value) => String(Object.values(value)[0])).join(' ');
}

/**
 * The loads of a write, calculated from the item before and after the write: one load for the table, and one or two
 * loads for each index that the write changes.
 */
export function writeLoads(table: TableShape, before: JsonItem | undefined, after: JsonItem | undefined): KeyLoad[] {
  const key = partitionKeyOf(table.partition, after ?? before ?? {}) ?? '';
  const units = Math.max(writeUnits(before ?? {}), writeUnits(after ?? {}));
  return [
    { tableArn: table.arn, key, units },
    ...table.indexes.flatMap((index) => indexLoads(table, index, before, after)),
  ];
}

function indexLoads(table: TableShape, index: IndexShape, before?: JsonItem, after?: JsonItem): KeyLoad[] {
  const [was, is] = [entryOf(index, before), entryOf(index, after)];
  if (isDeepStrictEqual(was, is)) return [];
  const load = (entry: JsonItem, units: number): KeyLoad => ({
    tableArn: table.arn,
    indexName: index.name,
    key: partitionKeyOf(index.partition, entry)!,
    units,
  });
  if (was === undefined) return [load(is!, writeUnits(is!))];
  if (is === undefined) return [load(was, writeUnits(was))];
  const isSameEntry = index.keys.every((name) => isDeepStrictEqual(was[name], is[name]));
  if (isSameEntry) return [load(is, Math.max(writeUnits(was), writeUnits(is)))];
  // If the key of an entry changes, DynamoDB deletes the old entry and puts a new entry. Source: the developer guide,
  // global secondary indexes.
  return [load(was, writeUnits(was)), load(is, writeUnits(is))];
}

/** The entry of an item in an index. Undefined if the item does not appear in the index. */
function entryOf({ keys, projected }: IndexShape, item: JsonItem | undefined): JsonItem | undefined {
  if (item === undefined || keys.some((name) => item[name] === undefined)) return undefined;
  if (projected === undefined) return item;
  return Object.fromEntries(Object.entries(item).filter(([name]) => projected.has(name)));
}

/** The write units of an item. A write unit is a write of up to 1 KB. Source: the DynamoDB developer guide. */
function writeUnits(item: JsonItem): number {
  return Math.max(1, Math.ceil(jsonItemBytes(item) / 1_024));
}
