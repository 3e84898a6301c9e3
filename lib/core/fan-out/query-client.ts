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
export type Item = Record<string, AttributeValue>;

export interface QueryInput {
  TableName: string;
  IndexName: string;
  KeyConditionExpression: string;
  FilterExpression?: string;
  ProjectionExpression?: string;
  ExpressionAttributeNames: Record<string, string>;
  // biome-ignore lint/suspicious/noExplicitAny: the SDK's AttributeValue has a further member for unknown types
  ExpressionAttributeValues: Record<string, any>;
  // biome-ignore lint/suspicious/noExplicitAny: as above
  ExclusiveStartKey?: Record<string, any>;
  ScanIndexForward: boolean;
  Limit?: number;
  ReturnConsumedCapacity: 'TOTAL';
}

export interface QueryOutput {
  Items?: object[];
  ScannedCount?: number;
  LastEvaluatedKey?: object;
  ConsumedCapacity?: { CapacityUnits?: number };
}

/** What the fan-out query needs of DynamoDB. The AWS SDK's `new DynamoDB({})` satisfies it as it is. */
export interface QueryClient {
  /** Aborted when the answer is of no use any more: a hedge was faster, or the page has ended. */
  query(input: QueryInput, options?: { abortSignal?: AbortSignal }): Promise<QueryOutput>;
}
