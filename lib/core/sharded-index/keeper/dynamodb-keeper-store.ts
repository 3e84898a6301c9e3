import { createHash } from 'node:crypto';
import type { DynamoDbItem } from '../../aws-client/attribute-value';
import { isConditionFailure } from '../../aws-client/expression';
import { checkItemFormat } from '../../kernel/format-version';
import { IncompleteAnswerError } from '../../kernel/incomplete-answer-error';
import {
  KEEPER_TABLE_KEY,
  KEEPER_TABLE_SORT_KEY,
  KEEPER_TABLE_TIME_TO_LIVE,
  type KeeperState,
  type KeeperStore,
  type NamedItem,
  type NamedItems,
  type SweepReason,
} from './keeper-store';
import { keyTextOf } from './table-change';

/** An item of the table, or its key, in the SDK's types. */
// biome-ignore lint/suspicious/noExplicitAny: the SDK's AttributeValue has a further member for unknown types
type StoreItem = Record<string, any>;

/** The part of a DynamoDB client that a `DynamoDbKeeperStore` uses. The AWS SDK's `new DynamoDB({})` fits without an adapter. */
export interface KeeperTableClient {
  getItem(input: { TableName: string; Key: StoreItem; ConsistentRead: boolean }): Promise<{ Item?: object }>;
  putItem(input: { TableName: string; Item: StoreItem }): Promise<object>;
  updateItem(input: {
    TableName: string;
    Key: StoreItem;
    UpdateExpression: string;
    ConditionExpression: string;
    ExpressionAttributeNames: Record<string, string>;
    ExpressionAttributeValues: StoreItem;
  }): Promise<object>;
  deleteItem(input: { TableName: string; Key: StoreItem }): Promise<object>;
  query(input: {
    TableName: string;
    ConsistentRead: boolean;
    KeyConditionExpression: string;
    ExpressionAttributeNames: Record<string, string>;
    ExpressionAttributeValues: StoreItem;
    ExclusiveStartKey?: StoreItem;
    Limit: number;
  }): Promise<{ Items?: object[]; LastEvaluatedKey?: object }>;
}

const STATE = { [KEEPER_TABLE_KEY]: { S: 'state' }, [KEEPER_TABLE_SORT_KEY]: { S: 'state' } };
const ITEMS = 'items';

const PAGE_ITEMS = 100;
const DAY_SECONDS = 24 * 60 * 60;

/** Keeps the state of a keeper, and the items that it names, in a DynamoDB table of its own. */
export class DynamoDbKeeperStore implements KeeperStore {
  constructor(
    private readonly client: KeeperTableClient,
    private readonly tableName: string,
  ) {}

  async readState(): Promise<KeeperState | undefined> {
    const response = await this.client.getItem({ TableName: this.tableName, Key: STATE, ConsistentRead: true });
    const item = Object(response).Item as DynamoDbItem | undefined;
    return item && stateOf(item);
  }

  async replaceState(
    before: KeeperState | undefined,
    { streamArn, sweep }: Omit<KeeperState, 'version'>,
  ): Promise<boolean> {
    const version = before?.version ?? 0;
    try {
      await this.client.updateItem({
        TableName: this.tableName,
        Key: STATE,
        UpdateExpression: `SET #version = :next, #streamArn = :streamArn${sweep ? ', #sweep = :sweep' : ' REMOVE #sweep'}`,
        ConditionExpression: before === undefined ? 'attribute_not_exists(#version)' : '#version = :version',
        ExpressionAttributeNames: { '#version': 'version', '#streamArn': 'streamArn', '#sweep': 'sweep' },
        ExpressionAttributeValues: {
          ':next': { N: String(version + 1) },
          ':streamArn': { S: streamArn },
          ...(before && { ':version': { N: String(version) } }),
          ...(sweep && {
            ':sweep': {
              M: {
                reason: { S: sweep.reason },
                dueSince: { N: String(sweep.dueSinceMs) },
                isStarted: { BOOL: sweep.isStarted },
                checked: { N: String(sweep.checked) },
                corrected: { N: String(sweep.corrected) },
                ...(sweep.position && { position: { M: sweep.position } }),
              },
            },
          }),
        },
      });
      return true;
    } catch (error) {
      if (isConditionFailure(error)) return false;
      throw error;
    }
  }

  async put({ key, keyText, reason, sinceMs, dueAtMs, checks }: NamedItem): Promise<void> {
    await this.client.putItem({
      TableName: this.tableName,
      Item: {
        ...storeKey(keyText),
        key: { M: key },
        reason: { S: reason },
        since: { N: String(sinceMs) },
        checks: { N: String(checks) },
        ...(dueAtMs === undefined
          ? { [KEEPER_TABLE_TIME_TO_LIVE]: { N: String(Math.ceil(sinceMs / 1_000) + DAY_SECONDS) } }
          : { dueAt: { N: String(dueAtMs) } }),
      },
    });
  }

  async remove(keyText: string): Promise<void> {
    await this.client.deleteItem({ TableName: this.tableName, Key: storeKey(keyText) });
  }

  async page(cursor?: string): Promise<NamedItems> {
    const response = await this.client.query({
      TableName: this.tableName,
      ConsistentRead: true,
      KeyConditionExpression: '#id = :id',
      ExpressionAttributeNames: { '#id': KEEPER_TABLE_KEY },
      ExpressionAttributeValues: { ':id': { S: ITEMS } },
      Limit: PAGE_ITEMS,
      ...(cursor !== undefined && { ExclusiveStartKey: storeKeyOf(cursor) }),
    });
    const { Items, LastEvaluatedKey } = Object(response);
    if (!Array.isArray(Items)) throw new IncompleteAnswerError('Query', 'Items');
    const next = Object(LastEvaluatedKey)[KEEPER_TABLE_SORT_KEY]?.S as string | undefined;
    return { items: (Items as StoreItem[]).map(namedItemOf), ...(next !== undefined && { cursor: next }) };
  }
}

/** Hashes the text of the key, because a sort key has at most 1,024 bytes, and two keys can have more together. */
function storeKey(keyText: string): StoreItem {
  return storeKeyOf(createHash('sha256').update(keyText).digest('base64url'));
}

function storeKeyOf(hash: string): StoreItem {
  return { [KEEPER_TABLE_KEY]: { S: ITEMS }, [KEEPER_TABLE_SORT_KEY]: { S: hash } };
}

function stateOf(item: StoreItem): KeeperState {
  checkItemFormat('keeper state', item);
  const { version, streamArn, sweep } = item;
  if (sweep === undefined) return { version: Number(version.N), streamArn: streamArn.S };
  const { reason, dueSince, isStarted, checked, corrected, position } = sweep.M;
  return {
    version: Number(version.N),
    streamArn: streamArn.S,
    sweep: {
      reason: reason.S as SweepReason,
      dueSinceMs: Number(dueSince.N),
      isStarted: isStarted.BOOL,
      checked: Number(checked.N),
      corrected: Number(corrected.N),
      ...(position && { position: position.M }),
    },
  };
}

function namedItemOf(item: StoreItem): NamedItem {
  checkItemFormat('named item', item);
  const { key, reason, since, checks, dueAt } = item;
  return {
    key: key.M,
    keyText: keyTextOf(key.M),
    reason: reason.S,
    sinceMs: Number(since.N),
    checks: Number(checks.N),
    ...(dueAt && { dueAtMs: Number(dueAt.N) }),
  };
}
