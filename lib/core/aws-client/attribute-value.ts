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
