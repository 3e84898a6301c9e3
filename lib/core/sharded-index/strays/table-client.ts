/** One Scan request for a page of a segment, in the AWS SDK's terms. */
export interface TableScanInput {
  TableName: string;
  Segment: number;
  TotalSegments: number;
  ProjectionExpression: string;
  ExpressionAttributeNames: Record<string, string>;
  ConsistentRead: boolean;
  // biome-ignore lint/suspicious/noExplicitAny: the SDK's AttributeValue has a further member for unknown types
  ExclusiveStartKey?: Record<string, any>;
  Limit?: number;
  ReturnConsumedCapacity: 'TOTAL';
}

/** The answer to one Scan request, in the AWS SDK's terms. */
export interface TableScanOutput {
  Items?: object[];
  LastEvaluatedKey?: object;
  ConsumedCapacity?: { CapacityUnits?: number };
}

/** One GetItem request, in the AWS SDK's terms. */
export interface ItemReadInput {
  TableName: string;
  // biome-ignore lint/suspicious/noExplicitAny: as above
  Key: Record<string, any>;
  ProjectionExpression: string;
  ExpressionAttributeNames: Record<string, string>;
  ConsistentRead: true;
  ReturnConsumedCapacity: 'TOTAL';
}

/** The answer to one GetItem request, in the AWS SDK's terms. */
export interface ItemReadOutput {
  Item?: object;
  ConsumedCapacity?: { CapacityUnits?: number };
}

/** One UpdateItem request that gives an item its shard, in the AWS SDK's terms. */
export interface ItemMoveInput {
  TableName: string;
  // biome-ignore lint/suspicious/noExplicitAny: as above
  Key: Record<string, any>;
  UpdateExpression: string;
  ConditionExpression: string;
  ExpressionAttributeNames: Record<string, string>;
  // biome-ignore lint/suspicious/noExplicitAny: as above
  ExpressionAttributeValues?: Record<string, any>;
  ReturnConsumedCapacity: 'TOTAL';
}

/** The answer to one UpdateItem request, in the AWS SDK's terms. */
export interface ItemMoveOutput {
  ConsumedCapacity?: { CapacityUnits?: number };
}

/** The part of a DynamoDB client that `findStrays` uses. The AWS SDK's `new DynamoDB({})` fits without an adapter. */
export interface TableScanClient {
  /** Sends one Scan request. */
  scan(input: TableScanInput, options?: { abortSignal?: AbortSignal }): Promise<TableScanOutput>;
}

/** The part of a DynamoDB client that `reshardItems` uses. The AWS SDK's `new DynamoDB({})` fits without an adapter. */
export interface ItemReshardClient extends TableScanClient {
  /** Sends one GetItem request. */
  getItem(input: ItemReadInput, options?: { abortSignal?: AbortSignal }): Promise<ItemReadOutput>;
  /** Sends one UpdateItem request. */
  updateItem(input: ItemMoveInput): Promise<ItemMoveOutput>;
}
