/**
 * The value of an attribute in the format of DynamoDB's API, such as `{ S: 'text' }`. This type has the same shape as the AWS
 * SDK's own type.
 */
export type AttributeValue =
  | { S: string }
  | { N: string }
  | { B: Uint8Array }
  | { SS: string[] }
  | { NS: string[] }
  | { BS: Uint8Array[] }
  | { M: Record<string, AttributeValue> }
  | { L: AttributeValue[] }
  | { NULL: boolean }
  | { BOOL: boolean };

/** An item in the format of DynamoDB's API: the attribute values by attribute name. */
export type DynamoDbItem = Record<string, AttributeValue>;

/**
 * Returns an attribute of an item, or undefined if the item does not have the attribute. The function ignores names that every
 * JavaScript object inherits, such as `constructor`.
 */
export function attributeOf<V>(item: Readonly<Record<string, V>>, name: string): V | undefined {
  return name in Object.prototype && !Object.hasOwn(item, name) ? undefined : item[name];
}

/** The attributes of an item with these names. The result does not have attributes that the item does not have. */
export function attributesOf(item: DynamoDbItem, names: readonly string[]): DynamoDbItem {
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = attributeOf(item, name);
      return value === undefined ? [] : [[name, value]];
    }),
  );
}
