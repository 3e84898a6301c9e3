import type { FieldValues } from './field-samples';

/** Which records stay in order among themselves with a partition key: a stream keeps order within one key alone. */
export interface KeyOrder {
  /** Fields that several records share: all records of one value have one key, so their order is kept. */
  readonly keeps: readonly string[];
  /** Fields that several records share whose records have several keys, so that they may be read in another order. */
  readonly breaks: readonly string[];
}

/** What a key keeps in order, of itself and of the fields that several records share. */
export function keyOrder(key: FieldValues, shared: readonly FieldValues[]): KeyOrder {
  const others = shared.filter(({ name }) => name !== key.name);
  const isKept = (field: FieldValues) => hasOneKeyEach(field, key);
  return {
    keeps: [...(isShared(key) ? [key] : []), ...others.filter(isKept)].map(({ name }) => name),
    breaks: others.filter((field) => !isKept(field)).map(({ name }) => name),
  };
}

/** Whether several records have one value, so that there is an order among them. */
export function isShared({ values, ofRecord }: FieldValues): boolean {
  return values.length < ofRecord.length;
}

/** Whether all records of each value have the same key. */
function hasOneKeyEach(field: FieldValues, key: FieldValues): boolean {
  const keyOf = new Int32Array(field.values.length).fill(-1);
  return field.ofRecord.every((value, record) => {
    if (keyOf[value] === -1) keyOf[value] = key.ofRecord[record]!;
    return keyOf[value] === key.ofRecord[record];
  });
}
