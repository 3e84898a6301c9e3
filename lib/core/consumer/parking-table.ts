import type { DynamoDbItem } from '../aws-client/attribute-value';
import { isObject } from '../kernel/checks';
import { IncompleteAnswerError } from '../kernel/incomplete-answer-error';

/** The partition key of a parking table, a string. */
export const PARKING_TABLE_KEY = 'id';
/** The sort key of a parking table, a string. */
export const PARKING_TABLE_SORT_KEY = 'part';
/** The time-to-live attribute of a parking table. Parked records do not have it. */
export const PARKING_TABLE_TIME_TO_LIVE = 'expiresAt';

/** An item of a parking table, or its key, in the SDK's types. */
// biome-ignore lint/suspicious/noExplicitAny: the SDK's AttributeValue has a further member for unknown types
export type ParkingItem = Record<string, any>;

/** The names, values and condition of a request, in the AWS SDK's terms. */
export interface ParkingExpression {
  ConditionExpression?: string;
  ExpressionAttributeNames?: Record<string, string>;
  ExpressionAttributeValues?: ParkingItem;
}

/** A write of a transaction, in the AWS SDK's terms. */
export interface ParkingWrite {
  Put?: ParkingExpression & { TableName: string; Item: ParkingItem };
  Update?: ParkingExpression & { TableName: string; Key: ParkingItem; UpdateExpression: string };
}

/** The part of a DynamoDB client that a `DynamoDbParkingStore` uses. The AWS SDK's `new DynamoDB({})` fits without an adapter. */
export interface ParkingTableClient {
  getItem(input: { TableName: string; Key: ParkingItem; ConsistentRead: boolean }): Promise<{ Item?: object }>;
  batchGetItem(input: {
    RequestItems: Record<string, { Keys: ParkingItem[]; ConsistentRead: boolean }>;
  }): Promise<{ Responses?: object; UnprocessedKeys?: object }>;
  query(input: {
    TableName: string;
    ConsistentRead: boolean;
    KeyConditionExpression: string;
    ExpressionAttributeNames: Record<string, string>;
    ExpressionAttributeValues: ParkingItem;
    ExclusiveStartKey?: ParkingItem;
    ProjectionExpression?: string;
    Limit?: number;
  }): Promise<{ Items?: object[]; LastEvaluatedKey?: object }>;
  putItem(input: ParkingExpression & { TableName: string; Item: ParkingItem }): Promise<object>;
  updateItem(
    input: ParkingExpression & {
      TableName: string;
      Key: ParkingItem;
      UpdateExpression: string;
      ReturnValues?: 'ALL_NEW';
    },
  ): Promise<{ Attributes?: object }>;
  deleteItem(input: ParkingExpression & { TableName: string; Key: ParkingItem }): Promise<object>;
  transactWriteItems(
    input: { TransactItems: ParkingWrite[] },
    options?: { abortSignal?: AbortSignal },
  ): Promise<object>;
}

/**
 * The item of a GetItem response. Undefined if there is no item.
 *
 * @throws IncompleteAnswerError if there is no response, because an empty result would mean that the key is not parked
 */
export function itemIn(response: unknown): DynamoDbItem | undefined {
  if (!isObject(response)) throw new IncompleteAnswerError('GetItem', 'an object');
  return (response as { Item?: DynamoDbItem }).Item;
}

/**
 * The items of a Query response.
 *
 * @throws IncompleteAnswerError if the list is missing, because an empty result would mean that no key is parked
 */
export function itemsIn(response: unknown): DynamoDbItem[] {
  const { Items } = Object(response);
  if (!Array.isArray(Items)) throw new IncompleteAnswerError('Query', 'Items');
  return Items;
}
