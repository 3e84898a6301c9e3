import type { DynamoDbItem, TransactWrite } from '../../../lib/core';
import type { FakeWrite } from './fake-table';

/** An item in DynamoDB format with each value as a string. */
export function typed(item: object): DynamoDbItem {
  return Object.fromEntries(Object.entries(item).map(([name, value]) => [name, { S: String(value) }]));
}

/** A write of a transaction in the format of `FakeTable`. */
export function typedWrite(write: TransactWrite): FakeWrite {
  const [kind, { Item, Key, ExpressionAttributeValues: values, ...condition }] = Object.entries(write)[0] as [
    string,
    Record<string, object>,
  ];
  return {
    [kind]: {
      ...condition,
      ...(Item && { Item: typed(Item) }),
      ...(Key && { Key: typed(Key) }),
      ...(values && { ExpressionAttributeValues: typed(values) }),
    },
  };
}
