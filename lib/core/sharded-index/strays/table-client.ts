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

/** The response to one Scan request, in the AWS SDK's terms. */
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
  /** Absent: the response contains the whole item. */
  ProjectionExpression?: string;
  ExpressionAttributeNames?: Record<string, string>;
  ConsistentRead: true;
  ReturnConsumedCapacity: 'TOTAL';
}

/** The response to one GetItem request, in the AWS SDK's terms. */
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

/** The response to one UpdateItem request, in the AWS SDK's terms. */
export interface ItemMoveOutput {
  ConsumedCapacity?: { CapacityUnits?: number };
}

/** One write of a transaction that moves an item to its place, in the AWS SDK's terms. */
export type TransferWrite =
  // biome-ignore lint/suspicious/noExplicitAny: as above
  | { Put: { TableName: string; Item: Record<string, any> } & TransferCondition }
  // biome-ignore lint/suspicious/noExplicitAny: as above
  | { Delete: { TableName: string; Key: Record<string, any> } & TransferCondition }
  // biome-ignore lint/suspicious/noExplicitAny: as above
  | { ConditionCheck: { TableName: string; Key: Record<string, any> } & TransferCondition };

/** The condition of a write in a transaction that moves an item. */
export interface TransferCondition {
  ConditionExpression: string;
  ExpressionAttributeNames: Record<string, string>;
  // biome-ignore lint/suspicious/noExplicitAny: as above
  ExpressionAttributeValues?: Record<string, any>;
}

/** One TransactWriteItems request that moves an item to its place, in the AWS SDK's terms. */
export interface ItemTransferInput {
  TransactItems: TransferWrite[];
  ReturnConsumedCapacity: 'TOTAL';
}

/** The response to one TransactWriteItems request, in the AWS SDK's terms. */
export interface ItemTransferOutput {
  ConsumedCapacity?: { CapacityUnits?: number }[];
}

/** The part of a DynamoDB client that `findStrays` uses. The AWS SDK's `new DynamoDB({})` fits without an adapter. */
export interface TableScanClient {
  /** Sends one Scan request. */
  scan(input: TableScanInput, options?: { abortSignal?: AbortSignal }): Promise<TableScanOutput>;
}

/** A client that also reads single items. */
export interface ItemReadClient extends TableScanClient {
  /** Sends one GetItem request. */
  getItem(input: ItemReadInput, options?: { abortSignal?: AbortSignal }): Promise<ItemReadOutput>;
}

/**
 * The part of a DynamoDB client that `reshardItems` uses for an index. The AWS SDK's `new DynamoDB({})` fits without an
 * adapter.
 */
export interface ItemReshardClient extends ItemReadClient {
  /** Sends one UpdateItem request. */
  updateItem(input: ItemMoveInput): Promise<ItemMoveOutput>;
}

/**
 * The part of a DynamoDB client that `reshardItems` uses for a table that is sharded by its own key. The AWS SDK's
 * `new DynamoDB({})` fits without an adapter.
 */
export interface ItemTransferClient extends ItemReadClient {
  /** Sends one TransactWriteItems request. */
  transactWriteItems(input: ItemTransferInput): Promise<ItemTransferOutput>;
}
