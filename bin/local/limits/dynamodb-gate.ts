import type { DynamoDbLimits, KeyLoad } from '../../../lib/testing/dynamodb-limits';
import { THROTTLED, type ThrottlingReason, throttlingMessage } from '../../../lib/testing/dynamodb-throttling';
import {
  type Call,
  type Forward,
  type Gate,
  refusal,
  type ServiceAnswer,
  type ServiceCall,
} from '../emulators/gated-service';
import type { JsonItem } from '../json-item';
import { itemAfterUpdate } from './item-after-update';
import { partitionKeyOf, type TableShape, type TableShapes, writeLoads } from './table-shapes';
import type { Traffic } from './traffic';

interface DynamoDbGateParts {
  readonly call: Call;
  readonly tables: TableShapes;
  /** Absent if nothing is limited. */
  readonly limits?: DynamoDbLimits;
  readonly traffic: Traffic;
  /** Receives a line when an operation without limits is called for the first time. */
  readonly notice: (line: string) => void;
}

/**
 * The operations of PartiQL. The gate does not limit these operations, because it cannot find the partition keys of a
 * statement. For example, a condition can match many partition keys.
 */
const PARTIQL = ['ExecuteStatement', 'BatchExecuteStatement', 'ExecuteTransaction'];

/** The place in `Traffic` that counts statements by operation. */
export const STATEMENTS = 'statements';

/** The operations that the gate checks. All other calls pass unchanged. */
export const GATED_BY_DYNAMODB: ReadonlySet<string> = new Set([
  ...['PutItem', 'UpdateItem', 'DeleteItem', 'BatchWriteItem', 'TransactWriteItems'],
  ...['GetItem', 'BatchGetItem', 'TransactGetItems', 'Query', 'Scan'],
  ...['CreateTable', 'UpdateTable', 'DeleteTable'],
  ...PARTIQL,
]);

/** One write: the table, the key, and a function that calculates the new item. */
interface Write {
  readonly table: TableShape;
  readonly tableName: string;
  readonly key: JsonItem;
  readonly after: (before: JsonItem | undefined) => JsonItem | undefined;
}

/** The load of writes, and the reason if they were throttled. */
interface Taken {
  readonly loads: readonly KeyLoad[];
  readonly reason?: ThrottlingReason;
}

/**
 * Throttles calls as DynamoDB would, by the limits of each partition key of tables and indexes. The errors are the same
 * as in DynamoDB. The gate reads an item before a write to know which index entries the write changes.
 */
export class DynamoDbGate {
  constructor(private readonly parts: DynamoDbGateParts) {}

  readonly pass: Gate = (call, forward) => {
    const { operation, input } = call;
    if (operation === 'BatchWriteItem') return this.batchWrite(call, forward);
    if (operation === 'BatchGetItem') return this.batchGet(call, forward);
    if (operation === 'TransactWriteItems') return this.transactWrite(call, forward);
    if (operation === 'TransactGetItems') return this.transactGet(call, forward);
    if (operation === 'GetItem' || operation === 'Query') return this.read(call, forward);
    if (operation === 'Scan') return this.scan(call, forward);
    if (PARTIQL.includes(operation)) return this.statement(call, forward);
    if (operation.endsWith('Table')) return this.changeTable(call, forward);
    return this.write(operation, input, forward);
  };

  /** Passes a PartiQL statement without limits. The gate counts the statement, and prints its operation once. */
  private async statement({ operation, input }: ServiceCall, forward: Forward): Promise<ServiceAnswer> {
    const { limits, notice, traffic } = this.parts;
    if (limits !== undefined && !traffic.of(STATEMENTS).has(operation)) {
      notice(
        `not limited: ${operation}, because a PartiQL statement does not show which partition keys it reads or writes`,
      );
    }
    traffic.note(STATEMENTS, operation, 1, false);
    return forward(input);
  }

  private async write(operation: string, input: JsonItem, forward: Forward): Promise<ServiceAnswer> {
    const write = await this.writeOf(operation, input);
    const { loads, reason } = await this.takeAll(write === undefined ? [] : [write]);
    return reason === undefined ? this.counted(await forward(input), loads) : refused(reason);
  }

  private async batchWrite({ input }: ServiceCall, forward: Forward): Promise<ServiceAnswer> {
    const admitted: Record<string, JsonItem[]> = {};
    const unprocessed: Record<string, JsonItem[]> = {};
    const admittedLoads: KeyLoad[] = [];
    let reason: ThrottlingReason | undefined;
    for (const [tableName, requests] of Object.entries<JsonItem[]>(input.RequestItems ?? {})) {
      for (const request of requests) {
        const write = request.PutRequest
          ? await this.writeOf('PutItem', { TableName: tableName, ...request.PutRequest })
          : await this.writeOf('DeleteItem', { TableName: tableName, ...request.DeleteRequest });
        const { loads, reason: refusedFor } = await this.takeAll(write === undefined ? [] : [write]);
        if (refusedFor === undefined) admittedLoads.push(...loads);
        const to = refusedFor === undefined ? admitted : unprocessed;
        to[tableName] = [...(to[tableName] ?? []), request];
        reason ??= refusedFor;
      }
    }
    if (reason === undefined) return this.counted(await forward(input), admittedLoads);
    // BatchWriteItem returns an error only if all of its writes are throttled. Source: the API reference,
    // BatchWriteItem.
    if (Object.keys(admitted).length === 0) return refused(reason);
    const answer = this.counted(await forward({ ...input, RequestItems: admitted }), admittedLoads);
    return withUnprocessed(answer, 'UnprocessedItems', unprocessed, (a: JsonItem[] = [], b: JsonItem[] = []) => [
      ...a,
      ...b,
    ]);
  }

  private async transactWrite({ input }: ServiceCall, forward: Forward): Promise<ServiceAnswer> {
    const writes: (Write | undefined)[] = [];
    for (const action of input.TransactItems ?? []) {
      const [kind, request] = Object.entries<JsonItem>(action)[0] ?? [];
      writes.push(
        kind === undefined || kind === 'ConditionCheck' ? undefined : await this.writeOf(`${kind}Item`, request!),
      );
    }
    // A transaction writes each item twice, to prepare and to commit. Source: the developer guide, transactions.
    const known = writes.filter((write) => write !== undefined);
    const { loads, reason } = await this.takeAll(known, 2);
    if (reason === undefined) return this.counted(await forward(input), loads);
    return cancelled(
      writes.map((write) => (write?.table.arn === reason.resource.split('/index/')[0] ? reason : undefined)),
    );
  }

  private async transactGet({ input }: ServiceCall, forward: Forward): Promise<ServiceAnswer> {
    const loads: (Omit<KeyLoad, 'units'> | undefined)[] = [];
    for (const { Get = {} } of input.TransactItems ?? []) loads.push(await this.loadOf(Get.TableName, Get.Key));
    const reasons = loads.map((load) => load && this.refuseRead(load));
    if (reasons.some((reason) => reason !== undefined)) return cancelled(reasons);
    // A transaction reads each item twice, and the consumed units include both reads. Source: the developer guide,
    // transactions.
    const { answer, units } = await measured(input, forward);
    for (const load of loads) if (load) this.parts.limits?.noteRead({ ...load, units: units / loads.length });
    return answer;
  }

  /**
   * A Scan reads from the partitions of all items of its page, including items that a filter removes. So the gate first
   * reads the keys of the same page without the filter.
   */
  private async scan({ input }: ServiceCall, forward: Forward): Promise<ServiceAnswer> {
    const { call, tables, limits } = this.parts;
    const table = await tables.of(input.TableName ?? '');
    if (table === undefined || limits === undefined) return forward(input);
    const partition = partitionOf(table, input.IndexName);
    const { output } = await call('Scan', keysOnly(input, partition));
    const items: JsonItem[] = output.Items ?? [];
    const loads = items.map((item) => ({
      tableArn: table.arn,
      indexName: input.IndexName,
      key: partitionKeyOf(partition, item)!,
    }));
    for (const load of loads) {
      const reason = limits.refuseRead(load);
      if (reason !== undefined) return refused(reason);
    }
    const { answer, units } = await measured(input, forward);
    for (const load of loads) limits.noteRead({ ...load, units: units / loads.length });
    return answer;
  }

  private async read({ operation, input }: ServiceCall, forward: Forward): Promise<ServiceAnswer> {
    const table = await this.parts.tables.of(input.TableName ?? '');
    const key =
      table && (operation === 'GetItem' ? partitionKeyOf(table.partition, input.Key ?? {}) : queriedKey(table, input));
    if (table === undefined || key === undefined) return forward(input);
    const load = { tableArn: table.arn, indexName: input.IndexName as string | undefined, key };
    const reason = this.refuseRead(load);
    if (reason !== undefined) return refused(reason);
    const { answer, units } = await measured(input, forward);
    this.parts.limits?.noteRead({ ...load, units });
    return answer;
  }

  private async batchGet({ input }: ServiceCall, forward: Forward): Promise<ServiceAnswer> {
    const admitted: Record<string, JsonItem> = {};
    const unprocessed: Record<string, JsonItem> = {};
    const loads: Omit<KeyLoad, 'units'>[] = [];
    let reason: ThrottlingReason | undefined;
    for (const [tableName, request] of Object.entries<JsonItem>(input.RequestItems ?? {})) {
      const table = await this.parts.tables.of(tableName);
      if (table === undefined) return forward(input);
      const refusals = (request.Keys ?? []).map((key: JsonItem) => {
        const load = { tableArn: table.arn, key: partitionKeyOf(table.partition, key) ?? '' };
        const refusedFor = this.refuseRead(load);
        if (refusedFor === undefined) loads.push(load);
        reason ??= refusedFor;
        return refusedFor;
      });
      const some = (isRefused: boolean) =>
        request.Keys.filter((_: JsonItem, index: number) => (refusals[index] !== undefined) === isRefused);
      if (some(false).length > 0) admitted[tableName] = { ...request, Keys: some(false) };
      if (some(true).length > 0) unprocessed[tableName] = { ...request, Keys: some(true) };
    }
    if (reason !== undefined && loads.length === 0) return refused(reason);
    const { answer, units } = await measured({ ...input, RequestItems: admitted }, forward);
    for (const load of loads) this.parts.limits?.noteRead({ ...load, units: units / loads.length });
    return withUnprocessed(answer, 'UnprocessedKeys', unprocessed, (a, b) => b ?? a);
  }

  /** The load that the read of an item causes. Undefined if DynamoDB will reject the read. */
  private async loadOf(tableName = '', item: JsonItem = {}): Promise<Omit<KeyLoad, 'units'> | undefined> {
    const table = await this.parts.tables.of(tableName);
    const key = table && partitionKeyOf(table.partition, item);
    return table === undefined || key === undefined ? undefined : { tableArn: table.arn, key };
  }

  private async changeTable({ input }: ServiceCall, forward: Forward): Promise<ServiceAnswer> {
    const answer = await forward(input);
    this.parts.tables.forget(input.TableName ?? '');
    return answer;
  }

  /** The write that a request describes. Undefined if DynamoDB will reject the request. */
  private async writeOf(operation: string, input: JsonItem): Promise<Write | undefined> {
    const tableName = input.TableName ?? '';
    const table = await this.parts.tables.of(tableName);
    const named = operation === 'PutItem' ? input.Item : input.Key;
    if (table === undefined || named === undefined || table.keys.some((name) => named[name] === undefined))
      return undefined;
    const key = Object.fromEntries(table.keys.map((name) => [name, named[name]]));
    const after = (before: JsonItem | undefined): JsonItem | undefined => {
      if (operation === 'PutItem') return input.Item;
      return operation === 'UpdateItem' ? itemAfterUpdate(before, input as never) : undefined;
    };
    return { table, tableName, key, after };
  }

  /**
   * Takes the capacity of all writes from the limits. If one limit is exceeded, takes no capacity, counts the writes as
   * throttled, and returns the reason.
   */
  private async takeAll(writes: readonly Write[], times = 1): Promise<Taken> {
    const { call, limits, traffic } = this.parts;
    const loads: KeyLoad[] = [];
    for (const { table, tableName, key, after } of writes) {
      const { output } = await call('GetItem', { TableName: tableName, Key: key, ConsistentRead: true });
      const before: JsonItem | undefined = output.Item;
      loads.push(...writeLoads(table, before, after(before)).map((load) => ({ ...load, units: times * load.units })));
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

  private refuseRead(load: Omit<KeyLoad, 'units'>): ThrottlingReason | undefined {
    return this.parts.limits?.refuseRead(load);
  }
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
function cancelled(reasons: readonly (ThrottlingReason | undefined)[]): ServiceAnswer {
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
    ...{ TableName, IndexName, ExclusiveStartKey, Limit, Segment, TotalSegments },
    ProjectionExpression: names.map(([placeholder]) => placeholder).join(', '),
    ExpressionAttributeNames: Object.fromEntries(names),
  };
}

/** The partition key that a Query reads, from the equalities in its key condition. */
function queriedKey(table: TableShape, input: JsonItem): string | undefined {
  const {
    KeyConditionExpression = '',
    ExpressionAttributeNames = {},
    ExpressionAttributeValues = {},
    KeyConditions = {},
  } = input;
  const values: JsonItem = {};
  for (const [, name, value] of KeyConditionExpression.matchAll(/([#\w]+)\s*=\s*(:\w+)/g)) {
    values[ExpressionAttributeNames[name!] ?? name!] = ExpressionAttributeValues[value!];
  }
  for (const [name, condition] of Object.entries<JsonItem>(KeyConditions))
    values[name] = condition.AttributeValueList?.[0];
  return partitionKeyOf(partitionOf(table, input.IndexName), values);
}

/** The response to a read, and its consumed units. The response has the units only if the caller requested them. */
async function measured(input: JsonItem, forward: Forward): Promise<{ answer: ServiceAnswer; units: number }> {
  const isRequested = (input.ReturnConsumedCapacity ?? 'NONE') !== 'NONE';
  const answer = await forward(isRequested ? input : { ...input, ReturnConsumedCapacity: 'TOTAL' });
  const consumed: JsonItem[] = [answer.output.ConsumedCapacity ?? []].flat();
  const units = consumed.reduce((sum, { CapacityUnits = 0 }) => sum + CapacityUnits, 0);
  if (isRequested) return { answer, units };
  const { ConsumedCapacity: _, ...output } = answer.output;
  return { answer: { ...answer, output }, units };
}

/** Adds the requests that the gate throttled to the unprocessed requests of the response. */
function withUnprocessed<T>(
  answer: ServiceAnswer,
  field: string,
  refusedItems: Record<string, T>,
  merge: (left: T | undefined, refused: T | undefined) => T | undefined,
): ServiceAnswer {
  if (answer.status !== 200) return answer;
  const left: Record<string, T> = answer.output[field] ?? {};
  const names = new Set([...Object.keys(left), ...Object.keys(refusedItems)]);
  const all = Object.fromEntries([...names].map((name) => [name, merge(left[name], refusedItems[name])]));
  return { ...answer, output: { ...answer.output, [field]: all } };
}
