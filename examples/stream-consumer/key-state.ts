import { DynamoDB } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocument } from '@aws-sdk/lib-dynamodb';
import type { KeyHistory } from 'cdk-even-shards/consumer';

/** The outcome of a key's records. */
export interface KeyState {
  count: number;
  last?: unknown;
}

/** A state, and how far its key was read: one item, so that neither is saved without the other. */
export interface SavedState {
  partitionKey: string;
  state: KeyState;
  history: KeyHistory[];
  /** Raised with every write, so that an invocation that was given up cannot overwrite what came after it. */
  version: number;
}

const TableName = process.env.TABLE_NAME;
const client = DynamoDBDocument.from(new DynamoDB({}), { marshallOptions: { removeUndefinedValues: true } });

export async function loadState(partitionKey: string): Promise<SavedState> {
  const { Item } = await client.get({ TableName, Key: { partitionKey }, ConsistentRead: true });
  return (Item as SavedState | undefined) ?? { partitionKey, state: { count: 0 }, history: [], version: 0 };
}

export async function saveState(saved: SavedState): Promise<void> {
  await client.put({
    TableName,
    Item: { ...saved, version: saved.version + 1 },
    ConditionExpression: 'attribute_not_exists(version) OR version = :loaded',
    ExpressionAttributeValues: { ':loaded': saved.version },
  });
}
