import type { DynamoDbItem, TransactWrite } from '../../lib/core';
import { FakeIndex } from './fake-index';

/** A table that takes the writes of a transaction together, or none of them. Its attributes are strings. */
export class TransactionalTable extends FakeIndex {
  /** Whether the transaction was not refused. */
  transact(writes: readonly TransactWrite[]): boolean {
    const keysOf = (item: Record<string, unknown>): string => `${item.pk}|${item.sk}`;
    const there = new Set(this.all().map(({ pk, sk }) => keysOf({ pk: textOf(pk!), sk: textOf(sk!) })));
    for (const write of writes) {
      const { Item, Key, ConditionExpression } = { Item: undefined, Key: undefined, ...Object.values(write)[0] };
      if (ConditionExpression !== undefined && there.has(keysOf((Item ?? Key)!))) return false;
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
