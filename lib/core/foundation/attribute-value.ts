/** An attribute's value as DynamoDB's API writes it; structurally the AWS SDK's own type. */
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

/** An item as DynamoDB's API writes it. */
export type DynamoDbItem = Record<string, AttributeValue>;
