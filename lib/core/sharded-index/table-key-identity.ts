import type { DynamoDbItem } from '../foundation/attribute-value';
import type { SortableValue } from './attribute-order';

/** Tells items of one table apart by their key. */
export function tableKeyIdentity(tableKey: readonly string[]): (item: DynamoDbItem) => string {
  return (item) => {
    const [partition = '', sort] = tableKey.map((attribute) => keyText(item[attribute] as SortableValue));
    return sort === undefined ? partition : `${partition.length}:${partition}${sort}`;
  };
}

/** Numbers as DynamoDB returns them have one notation each, so that equal ones are equal texts. */
function keyText(value: SortableValue): string {
  if ('S' in value) return value.S;
  return 'N' in value ? value.N : Buffer.from(value.B).toString('latin1');
}
