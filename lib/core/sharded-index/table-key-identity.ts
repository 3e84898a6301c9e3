import type { DynamoDbItem } from '../foundation/attribute-value';
import type { SortableValue } from './attribute-order';

/** A text for each item that two items of one table share only if they have the same table key. */
export function tableKeyIdentity(tableKey: readonly string[]): (item: DynamoDbItem) => string {
  return (item) => {
    const [partition = '', sort] = tableKey.map((attribute) => keyText(item[attribute] as SortableValue));
    return sort === undefined ? partition : `${partition.length}:${partition}${sort}`;
  };
}

/** DynamoDB returns each number in one notation, so equal numbers are equal texts. */
function keyText(value: SortableValue): string {
  if ('S' in value) return value.S;
  return 'N' in value ? value.N : Buffer.from(value.B).toString('latin1');
}
