export interface IndexQueryInput {
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

export interface IndexQueryOutput {
  Items?: object[];
  ScannedCount?: number;
  LastEvaluatedKey?: object;
  ConsumedCapacity?: { CapacityUnits?: number };
}

/** What the fan-out query needs of DynamoDB. The AWS SDK's `new DynamoDB({})` satisfies it as it is. */
export interface QueryClient {
  /** Aborted when the answer is of no use any more: a hedge was faster, or the page has ended. */
  query(input: IndexQueryInput, options?: { abortSignal?: AbortSignal }): Promise<IndexQueryOutput>;
}
