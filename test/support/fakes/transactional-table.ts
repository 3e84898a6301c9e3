import type { DynamoDbItem, TransactCondition, TransactWrite } from '../../../lib/core';
import { conditionHolds } from './condition';
import { FakeIndex } from './fake-index';

/** A table that applies all writes of a transaction or none of them. Its attributes are strings. */
export class TransactionalTable extends FakeIndex {
  /** Returns whether the transaction was committed. */
  transact(writes: readonly TransactWrite[]): boolean {
    const keysOf = (item: Record<string, unknown>): string => `${item.pk}|${item.sk}`;
    const there = new Map(this.all().map((item) => [keysOf({ pk: textOf(item.pk!), sk: textOf(item.sk!) }), item]));
    for (const write of writes) {
      const { Item, Key, ...condition } = { Item: undefined, Key: undefined, ...Object.values(write)[0] };
      const item = there.get(keysOf((Item ?? Key)!));
      const { ExpressionAttributeValues: values } = condition as Partial<TransactCondition>;
      const given = values && { ExpressionAttributeValues: typed(values) };
      if (!conditionHolds({ ...condition, ...given }, item)) return false;
    }
    for (const write of writes) {
      if ('Put' in write) this.put(typed(write.Put.Item));
      if ('Delete' in write) this.delete(typed(write.Delete.Key));
    }
    return true;
  }
}

export function textOf(value: DynamoDbItem[string]): string {
  return (value as { S: string }).S;
}

function typed(item: Record<string, unknown>): DynamoDbItem {
  return Object.fromEntries(Object.entries(item).map(([name, value]) => [name, { S: String(value) }]));
}
