import type { DynamoDbLimits, KeyLoad } from '../../../lib/testing/dynamodb-limits';
import { THROTTLED, type ThrottlingReason, throttlingMessage } from '../../../lib/testing/dynamodb-throttling';
import { type Call, type Forward, type Gate, refusal, type ServiceAnswer } from '../emulators/gated-service';
import type { JsonItem } from '../json-item';
import { itemAfterUpdate } from './item-after-update';
import {
  partitionKeyOf,
  singleWrites,
  storedItem,
  type TableShape,
  type TableShapes,
  type Write,
  writeLoads,
} from './table-shapes';
import type { Traffic } from './traffic';

interface DynamoDbGateParts {
  readonly call: Call;
  readonly tables: TableShapes;
  /** Absent if nothing is limited. */
  readonly limits?: DynamoDbLimits;
  readonly traffic: Traffic;
}

/**
 * The operations that the gate checks. All other calls pass unchanged, such as statements of PartiQL, because a statement
 * does not show which partition keys it reads or writes.
 */
export const GATED_BY_DYNAMODB: ReadonlySet<string> = new Set([
  ...['PutItem', 'UpdateItem', 'DeleteItem', 'BatchWriteItem', 'TransactWriteItems'],
  ...['GetItem', 'BatchGetItem', 'TransactGetItems', 'Query', 'Scan'],
  ...['CreateTable', 'UpdateTable', 'DeleteTable'],
]);

/** The reason for which a request, or one of its items, is throttled. */
type Reason = ThrottlingReason | undefined;

/** A partition key that a request reads. Undefined if DynamoDB will reject the read. */
type ReadKey = Omit<KeyLoad, 'units'> | undefined;

/**
 * Throttles calls as DynamoDB would, by the limits of each partition key of tables and indexes. The errors are the same
 * as in DynamoDB. The gate reads an item before a write to know which index entries the write changes.
 */
export class DynamoDbGate {
  constructor(private readonly parts: DynamoDbGateParts) {}

  readonly pass: Gate = ({ operation, input }, forward) => {
    if (operation.endsWith('Table')) return this.changeTable(input, forward);
    if (operation === 'BatchWriteItem') return this.batchWrite(input, forward);
    if (operation === 'BatchGetItem') return this.batchGet(input, forward);
    const isTransaction = operation.startsWith('Transact');
    if (/Write|Put|Update|Delete/.test(operation)) return this.write(operation, input, forward, isTransaction);
    return this.read(operation, input, forward, isTransaction);
  };

  private async write(
    operation: string,
    input: JsonItem,
    forward: Forward,
    isTransaction: boolean,
  ): Promise<ServiceAnswer> {
    const writes = await this.writesOf(operation, input);
    // A transaction writes each item twice, to prepare and to commit. Source: the developer guide, transactions.
    const { loads, reason } = await this.take(writes, isTransaction ? 2 : 1);
    if (reason === undefined) return this.counted(await forward(input), loads);
    const [table] = reason.resource.split('/index/');
    return isTransaction
      ? cancelled(writes.map((write) => (write?.table.arn === table ? reason : undefined)))
      : refused(reason);
  }

  private async batchWrite(input: JsonItem, forward: Forward): Promise<ServiceAnswer> {
    const reasons: Reason[] = [];
    const loads: KeyLoad[] = [];
    for (const write of await this.writesOf('BatchWriteItem', input)) {
      const taken = await this.take([write]);
      reasons.push(taken.reason);
      if (taken.reason === undefined) loads.push(...taken.loads);
    }
    return this.batch(input, reasons, 'UnprocessedItems', async (admitted) =>
      this.counted(await forward(admitted), loads),
    );
  }

  private async read(
    operation: string,
    input: JsonItem,
    forward: Forward,
    isTransaction: boolean,
  ): Promise<ServiceAnswer> {
    const { limits } = this.parts;
    if (limits === undefined) return forward(input);
    const keys = await this.keysOf(operation, input);
    const reasons = keys.map((key) => key && limits.refuseRead(key));
    const reason = reasons.find(isPresent);
    if (reason !== undefined) return isTransaction ? cancelled(reasons) : refused(reason);
    return this.measured(input, forward, keys);
  }

  /** The partition keys that a read reads, one for each item of a transaction. */
  private async keysOf(operation: string, input: JsonItem): Promise<ReadKey[]> {
    if (operation === 'Scan') return this.keysOfScan(input);
    if (operation === 'TransactGetItems') {
      return Promise.all(
        (input.TransactItems ?? []).map(({ Get = {} }: JsonItem) => this.keyOf(Get.TableName, Get.Key)),
      );
    }
    if (operation === 'GetItem') return [await this.keyOf(input.TableName, input.Key)];
    return [await this.keyOf(input.TableName, equalities(input), input.IndexName)];
  }

  /**
   * A Scan reads from the partitions of all items of its page, including items that a filter removes. So the gate first
   * reads the keys of the same page without the filter.
   */
  private async keysOfScan(input: JsonItem): Promise<ReadKey[]> {
    const table = await this.parts.tables.of(input.TableName ?? '');
    if (table === undefined) return [];
    const { output } = await this.parts.call('Scan', keysOnly(input, partitionOf(table, input.IndexName)));
    const items: JsonItem[] = output.Items ?? [];
    return Promise.all(items.map((item) => this.keyOf(input.TableName, item, input.IndexName)));
  }

  private async keyOf(tableName = '', attributes: JsonItem = {}, indexName?: string): Promise<ReadKey> {
    const table = await this.parts.tables.of(tableName);
    const key = table && partitionKeyOf(partitionOf(table, indexName), attributes);
    return key === undefined ? undefined : { tableArn: table!.arn, indexName, key };
  }

  private async batchGet(input: JsonItem, forward: Forward): Promise<ServiceAnswer> {
    const { limits } = this.parts;
    if (limits === undefined) return forward(input);
    const requests = Object.entries<JsonItem>(input.RequestItems ?? {});
    const keys = await Promise.all(
      requests.flatMap(([table, { Keys = [] }]) => Keys.map((key: JsonItem) => this.keyOf(table, key))),
    );
    const reasons = keys.map((key) => key && limits.refuseRead(key));
    const admittedKeys = keys.filter((_, index) => reasons[index] === undefined);
    return this.batch(input, reasons, 'UnprocessedKeys', (admitted) => this.measured(admitted, forward, admittedKeys));
  }

  /**
   * Runs the part of a batch that is not throttled, and returns the other items as unprocessed.
   *
   * @param reasons the reasons for which items are throttled, in the order of the items
   */
  private async batch(
    input: JsonItem,
    reasons: readonly Reason[],
    field: 'UnprocessedItems' | 'UnprocessedKeys',
    run: (admitted: JsonItem) => Promise<ServiceAnswer>,
  ): Promise<ServiceAnswer> {
    const reason = reasons.find(isPresent);
    if (reason === undefined) return run(input);
    // A batch returns an error only if all of its items are throttled. Source: the API reference, BatchWriteItem.
    if (reasons.every(isPresent)) return refused(reason);
    const part = (isThrottled: boolean) =>
      partOf(input.RequestItems, (index) => isPresent(reasons[index]) === isThrottled);
    const answer = await run({ ...input, RequestItems: part(false) });
    if (answer.status !== 200) return answer;
    return { ...answer, output: { ...answer.output, [field]: merged(answer.output[field] ?? {}, part(true)) } };
  }

  private async changeTable(input: JsonItem, forward: Forward): Promise<ServiceAnswer> {
    const answer = await forward(input);
    this.parts.tables.forget(input.TableName ?? '');
    return answer;
  }

  private writesOf(operation: string, input: JsonItem): Promise<(Write | undefined)[]> {
    return Promise.all(singleWrites(operation, input).map((single) => this.parts.tables.write(...single)));
  }

  /**
   * Takes the capacity of all writes from the limits. If one limit is exceeded, takes no capacity, counts the writes as
   * throttled, and returns the reason.
   */
  private async take(
    writes: readonly (Write | undefined)[],
    times = 1,
  ): Promise<{ readonly loads: readonly KeyLoad[]; readonly reason?: Reason }> {
    const { call, limits, traffic } = this.parts;
    const loads: KeyLoad[] = [];
    for (const { operation, table, key, input } of writes.filter(isPresent)) {
      const before = await storedItem(call, input.TableName, key);
      const after = operation === 'UpdateItem' ? itemAfterUpdate(before, input as never) : input.Item;
      loads.push(...writeLoads(table, before, after).map((load) => ({ ...load, units: times * load.units })));
    }
    const reason = loads.length === 0 ? undefined : limits?.takeWrite(loads);
    if (reason === undefined) return { loads };
    for (const load of loads) {
      if (placeOf(load) === `writes ${reason.resource}`) traffic.note(placeOf(load), load.key, load.units, true);
    }
    return { loads, reason };
  }

  /**
   * Counts the writes of a successful response. DynamoDB can still reject a write that passed the gate, for example
   * because its condition is not met.
   */
  private counted(answer: ServiceAnswer, loads: readonly KeyLoad[]): ServiceAnswer {
    if (answer.status !== 200) return answer;
    for (const load of loads) this.parts.traffic.note(placeOf(load), load.key, load.units, false);
    return answer;
  }

  /**
   * Runs a read, and takes its consumed units from the limits of its keys, in equal parts. The response has the units
   * only if the caller requested them.
   */
  private async measured(input: JsonItem, forward: Forward, keys: readonly ReadKey[]): Promise<ServiceAnswer> {
    const isRequested = (input.ReturnConsumedCapacity ?? 'NONE') !== 'NONE';
    const answer = await forward(isRequested ? input : { ...input, ReturnConsumedCapacity: 'TOTAL' });
    const { ConsumedCapacity, ...output } = answer.output;
    const consumed: JsonItem[] = [ConsumedCapacity ?? []].flat();
    const units = consumed.reduce((sum, { CapacityUnits = 0 }) => sum + CapacityUnits, 0);
    for (const key of keys) if (key) this.parts.limits?.noteRead({ ...key, units: units / keys.length });
    return isRequested ? answer : { ...answer, output };
  }
}

function isPresent<T>(value: T | undefined): value is T {
  return value !== undefined;
}

/** The place in `Traffic` that counts a table or an index. */
export function placeOf({ tableArn, indexName }: Pick<KeyLoad, 'tableArn' | 'indexName'>): string {
  return indexName === undefined ? `writes ${tableArn}` : `writes ${tableArn}/index/${indexName}`;
}

function refused(reason: ThrottlingReason): ServiceAnswer {
  return refusal(THROTTLED, throttlingMessage(reason), { ThrottlingReasons: [reason] });
}

/**
 * The error of a cancelled transaction. It has a reason for each item, with the code None for an item without an error.
 * Source: the API reference, TransactWriteItems.
 */
function cancelled(reasons: readonly Reason[]): ServiceAnswer {
  const codes = reasons.map((reason) => (reason === undefined ? 'None' : 'ThrottlingError'));
  const message = `Transaction cancelled, please refer cancellation reasons for specific reasons [${codes.join(', ')}]`;
  const CancellationReasons = reasons.map((reason, index) => ({
    Code: codes[index],
    ...(reason && { Message: throttlingMessage(reason) }),
  }));
  return refusal('TransactionCanceledException', message, { CancellationReasons });
}

function partitionOf(table: TableShape, indexName: string | undefined): readonly string[] {
  return (table.indexes.find(({ name }) => name === indexName) ?? table).partition;
}

/** The input of a Scan that reads the same page, but returns only partition keys. */
function keysOnly(input: JsonItem, partition: readonly string[]): JsonItem {
  const { TableName, IndexName, ExclusiveStartKey, Limit, Segment, TotalSegments } = input;
  const names = partition.map((name, index) => [`#${index}`, name]);
  return {
    TableName,
    IndexName,
    ExclusiveStartKey,
    Limit,
    Segment,
    TotalSegments,
    ProjectionExpression: names.map(([placeholder]) => placeholder).join(', '),
    ExpressionAttributeNames: Object.fromEntries(names),
  };
}

/** The attributes for which the key condition of a Query requires a value. */
function equalities(input: JsonItem): JsonItem {
  const { KeyConditionExpression = '', ExpressionAttributeNames = {}, ExpressionAttributeValues = {} } = input;
  const values: JsonItem = {};
  for (const [, name, value] of KeyConditionExpression.matchAll(/([#\w]+)\s*=\s*(:\w+)/g)) {
    values[ExpressionAttributeNames[name!] ?? name!] = ExpressionAttributeValues[value!];
  }
  for (const [name, condition] of Object.entries<JsonItem>(input.KeyConditions ?? {})) {
    values[name] = condition.AttributeValueList?.[0];
  }
  return values;
}

/** The items of a batch that `isIn` includes by their index. */
function partOf(requestItems: JsonItem, isIn: (index: number) => boolean): JsonItem {
  let index = 0;
  const of = (items: readonly JsonItem[]) => items.filter(() => isIn(index++));
  const parts = Object.entries<JsonItem>(requestItems).map(
    ([table, all]) => [table, Array.isArray(all) ? of(all) : { ...all, Keys: of(all.Keys) }] as const,
  );
  return Object.fromEntries(parts.filter(([, part]) => ('Keys' in part ? part.Keys : part).length > 0));
}

/** The items of two parts of a batch. */
function merged(left: JsonItem, right: JsonItem): JsonItem {
  const both = Object.entries<JsonItem>(right).map(([table, part]) => {
    const other = left[table];
    if (Array.isArray(part)) return [table, [...(other ?? []), ...part]];
    return [table, { ...part, Keys: [...(other?.Keys ?? []), ...part.Keys] }];
  });
  return { ...left, ...Object.fromEntries(both) };
}
