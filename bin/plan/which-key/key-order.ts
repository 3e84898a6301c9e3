import type { FieldValues } from './field-samples';

/** The records that a partition key keeps in order: a stream only keeps the order within a key. */
export interface KeyOrder {
  /** Fields with shared values: all records of a value have the same key, so their order is kept. */
  readonly keeps: readonly string[];
  /** Fields with shared values whose records have several keys, so consumers can read them in another order. */
  readonly breaks: readonly string[];
}

/** The fields whose order a key keeps, and the fields whose order it breaks. */
export function keyOrder(key: FieldValues, shared: readonly FieldValues[]): KeyOrder {
  const others = shared.filter(({ name }) => name !== key.name);
  const isKept = (field: FieldValues) => hasOneKeyEach(field, key);
  return {
    keeps: [...(isShared(key) ? [key] : []), ...others.filter(isKept)].map(({ name }) => name),
    breaks: others.filter((field) => !isKept(field)).map(({ name }) => name),
  };
}

/** Whether some records share a value, and so have an order. */
export function isShared({ values, ofRecord }: FieldValues): boolean {
  return values.length < ofRecord.length;
}

/** Whether, for each value, all records with this value have the same key. */
function hasOneKeyEach(field: FieldValues, key: FieldValues): boolean {
  const keyOf = new Int32Array(field.values.length).fill(-1);
  return field.ofRecord.every((value, record) => {
    if (keyOf[value] === -1) keyOf[value] = key.ofRecord[record]!;
    return keyOf[value] === key.ofRecord[record];
  });
}
