/** The input of one DynamoDB Query request for one shard of an index or a table, in the AWS SDK's terms. */
export interface IndexQueryInput {
  TableName: string;
  /** Absent for a query of a table. */
  IndexName?: string;
  KeyConditionExpression: string;
  FilterExpression?: string;
  ProjectionExpression?: string;
  ExpressionAttributeNames: Record<string, string>;
  // biome-ignore lint/suspicious/noExplicitAny: the SDK's AttributeValue has a further member for unknown types
  ExpressionAttributeValues: Record<string, any>;
  // biome-ignore lint/suspicious/noExplicitAny: as above
  ExclusiveStartKey?: Record<string, any>;
  ScanIndexForward: boolean;
  ConsistentRead?: boolean;
  Limit?: number;
  /** `COUNT`: the response has the number of items instead of the items. */
  Select?: 'COUNT';
  ReturnConsumedCapacity: 'TOTAL';
}

/** The response to one Query request, in the AWS SDK's terms. */
export interface IndexQueryOutput {
  Items?: object[];
  Count?: number;
  ScannedCount?: number;
  LastEvaluatedKey?: object;
  ConsumedCapacity?: { CapacityUnits?: number };
}

/**
 * The part of a DynamoDB client that a fan-out query uses. The AWS SDK's `new DynamoDB({ maxAttempts: 1 })` fits
 * without an adapter, and so does `lightQueryClient`.
 */
export interface QueryClient {
  /**
   * Sends one Query request. The fan-out query aborts the signal when it no longer needs the response: a hedge was
   * faster, or the page is complete.
   */
  query(input: IndexQueryInput, options?: { abortSignal?: AbortSignal }): Promise<IndexQueryOutput>;
}
