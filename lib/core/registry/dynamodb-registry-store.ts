import type { AttributeValue, DynamoDbItem } from '../aws-client/attribute-value';
import { checkClient } from '../aws-client/client-check';
import { isConditionFailure } from '../aws-client/expression';
import { laterFields, withLaterFields } from '../aws-client/later-fields';
import { checkItemFormat } from '../kernel/format-version';
import { IncompleteAnswerError } from '../kernel/incomplete-answer-error';
import { pages } from '../kernel/pages';
import { parseHashKey } from '../stream-format/hash-key-space';
import { REGISTRY_TABLE_KEY, REGISTRY_TABLE_TIME_TO_LIVE } from './registry-contract';
import { CorruptRegistryError } from './registry-errors';
import type { RegistryEntry, RegistryHead, RegistryStore } from './registry-store';

/** An item of a registry's table, or its key, in the SDK's types. */
// biome-ignore lint/suspicious/noExplicitAny: the SDK's AttributeValue has a further member for unknown types
export type RegistryItem = Record<string, any>;

/** The input of a GetItem request, in the AWS SDK's terms. */
export interface RegistryGetItemInput {
  TableName: string;
  Key: RegistryItem;
  ConsistentRead: boolean;
}

/** The input of a PutItem request, in the AWS SDK's terms. */
export interface RegistryPutItemInput {
  TableName: string;
  Item: RegistryItem;
  ConditionExpression: string;
  ExpressionAttributeNames: Record<string, string>;
  ExpressionAttributeValues?: RegistryItem;
  ReturnValuesOnConditionCheckFailure?: 'ALL_OLD';
}

/** The input of a Scan request, in the AWS SDK's terms. */
export interface RegistryScanInput {
  TableName: string;
  ConsistentRead: boolean;
  ExclusiveStartKey?: RegistryItem;
}

/** The part of a DynamoDB client that a registry uses. The AWS SDK's `new DynamoDB({})` fits without an adapter. */
export interface RegistryTableClient {
  getItem(input: RegistryGetItemInput): Promise<{ Item?: object }>;
  putItem(input: RegistryPutItemInput): Promise<object>;
  scan(input: RegistryScanInput): Promise<{ Items?: object[]; LastEvaluatedKey?: object }>;
}

const HEAD_ID = 'head';
const OWNER_PREFIX = 'owner/';

/**
 * How long the entry of a released owner is kept. During this time, the entry prevents a slow process from writing an earlier
 * entry of the owner. A Lambda invocation takes at most 90 minutes.
 */
const RELEASED_ENTRY_SECONDS = 7 * 24 * 60 * 60;

/**
 * Stores a registry in a DynamoDB table: one item for the head, and one item for each owner.
 *
 * The table must have a partition key `id` of type string, and no sort key. If `expiresAt` is its time-to-live attribute,
 * DynamoDB deletes released owners. The construct `HashKeyRegistry` creates such a table.
 */
export class DynamoDbRegistryStore implements RegistryStore {
  /** @throws InvalidArgumentError if the client lacks a method, or is a document client */
  constructor(
    private readonly client: RegistryTableClient,
    private readonly tableName: string,
  ) {
    checkClient(client, ['getItem', 'putItem', 'scan']);
  }

  async readHead(): Promise<RegistryHead | undefined> {
    const item = await this.read(HEAD_ID);
    return item && headOf(item);
  }

  async writeHead(head: RegistryHead, expected: number): Promise<RegistryHead | boolean> {
    const { version, recent, commits } = head;
    const failure = await this.write(
      {
        ...laterFields<DynamoDbItem>(head, {}),
        [REGISTRY_TABLE_KEY]: { S: HEAD_ID },
        version: { N: String(version) },
        recent: { S: JSON.stringify(recent.map(toCompact)) },
        ...(commits && { commits: { S: JSON.stringify(commits) } }),
      },
      expected === 0 ? 'attribute_not_exists(#version)' : '#version = :version',
      expected,
      { ReturnValuesOnConditionCheckFailure: 'ALL_OLD' },
    );
    if (failure === undefined) return true;
    return failure.item === undefined ? false : headOf(failure.item);
  }

  async readEntry(owner: string): Promise<RegistryEntry | undefined> {
    const item = await this.read(OWNER_PREFIX + owner);
    return item && entryOf(item);
  }

  async readEntries(): Promise<RegistryEntry[]> {
    const entries: RegistryEntry[] = [];
    const read = async (start: object | undefined): ReturnType<RegistryTableClient['scan']> =>
      Object(
        await this.client.scan({
          TableName: this.tableName,
          ConsistentRead: true,
          ...(start && { ExclusiveStartKey: start }),
        }),
      );
    for await (const { Items } of pages('Scan', read, ({ LastEvaluatedKey }) => LastEvaluatedKey)) {
      // A response without `Items` would look like an empty registry, in which all keys are free.
      if (!Array.isArray(Items)) throw new IncompleteAnswerError('Scan', 'Items');
      for (const each of Items) {
        const item: DynamoDbItem = Object(each);
        if (text(item[REGISTRY_TABLE_KEY], 'an id').startsWith(OWNER_PREFIX)) entries.push(entryOf(item));
      }
    }
    return entries;
  }

  async writeEntry({ owner, version, hashKey, weight }: RegistryEntry): Promise<void> {
    const expiresAt = Math.floor(Date.now() / 1000) + RELEASED_ENTRY_SECONDS;
    const item: DynamoDbItem = {
      [REGISTRY_TABLE_KEY]: { S: OWNER_PREFIX + owner },
      version: { N: String(version) },
      weight: { N: String(weight) },
      ...(hashKey === undefined
        ? { [REGISTRY_TABLE_TIME_TO_LIVE]: { N: String(expiresAt) } }
        : { hashKey: { S: String(hashKey) } }),
    };
    await this.write(item, 'attribute_not_exists(#version) OR #version < :version', version);
  }

  private async read(id: string): Promise<DynamoDbItem | undefined> {
    const { Item: item } = await this.client.getItem({
      TableName: this.tableName,
      Key: { [REGISTRY_TABLE_KEY]: { S: id } },
      ConsistentRead: true,
    });
    return item as DynamoDbItem | undefined;
  }

  /** Returns undefined if the item was written. Otherwise returns the stored item, if the response contains it. */
  private async write(
    item: DynamoDbItem,
    condition: string,
    version: number,
    options: Pick<RegistryPutItemInput, 'ReturnValuesOnConditionCheckFailure'> = {},
  ): Promise<{ item: DynamoDbItem | undefined } | undefined> {
    try {
      await this.client.putItem({
        TableName: this.tableName,
        Item: item,
        ConditionExpression: condition,
        ExpressionAttributeNames: { '#version': 'version' },
        ...(condition.includes(':version') && { ExpressionAttributeValues: { ':version': { N: String(version) } } }),
        ...options,
      });
      return undefined;
    } catch (error) {
      if (!isConditionFailure(error)) throw error;
      return { item: (error as { Item?: DynamoDbItem }).Item };
    }
  }
}

/** An entry in the head. The format is compact because every commit reads and writes up to 100 entries. */
type CompactEntry = [owner: string, version: number, hashKey: string | null, weight: number, ...later: unknown[]];

function toCompact(entry: RegistryEntry): CompactEntry {
  const { owner, version, hashKey, weight } = entry;
  return [owner, version, hashKey === undefined ? null : String(hashKey), weight, ...laterFields<unknown[]>(entry, [])];
}

function fromCompact(compact: CompactEntry): RegistryEntry {
  const [owner, version, hashKey, weight, ...later] = Array.isArray(compact) ? compact : [];
  if (typeof owner !== 'string' || !Number.isSafeInteger(version) || typeof weight !== 'number') {
    throw new CorruptRegistryError('an entry in its head');
  }
  const entry = { owner, version: version!, weight, ...(hashKey !== null && { hashKey: hashKeyOf(hashKey) }) };
  return withLaterFields(entry, later);
}

function headOf(item: DynamoDbItem): RegistryHead {
  checkItemFormat('registry head', item);
  const { [REGISTRY_TABLE_KEY]: _, version, recent, commits: ids, ...others } = item;
  const entries = list<CompactEntry>(recent, 'the history in its head');
  const commits = ids && list<string>(ids, 'the commits in its head');
  const head = {
    version: number(version, 'the version of its head'),
    recent: entries.map(fromCompact),
    ...(commits && { commits }),
  };
  return withLaterFields(head, others);
}

function entryOf(item: DynamoDbItem): RegistryEntry {
  checkItemFormat('registry entry', item);
  return {
    owner: text(item[REGISTRY_TABLE_KEY], 'an id').slice(OWNER_PREFIX.length),
    version: number(item.version, "the version of an owner's entry"),
    weight: number(item.weight, "the weight of an owner's entry"),
    ...(item.hashKey && { hashKey: hashKeyOf(text(item.hashKey, "the key of an owner's entry")) }),
  };
}

function hashKeyOf(stored: string | undefined): bigint {
  const hashKey = typeof stored === 'string' ? parseHashKey(stored) : undefined;
  if (hashKey === undefined) throw new CorruptRegistryError("an owner's key");
  return hashKey;
}

function list<T>(value: AttributeValue | undefined, part: string): T[] {
  try {
    const items: unknown = JSON.parse(text(value, part));
    if (Array.isArray(items)) return items;
  } catch {
    // The error below is for invalid JSON and for JSON that is not a list.
  }
  throw new CorruptRegistryError(part);
}

function text(value: AttributeValue | undefined, part: string): string {
  const stored = (value as { S?: unknown } | undefined)?.S;
  if (typeof stored !== 'string') throw new CorruptRegistryError(part);
  return stored;
}

function number(value: AttributeValue | undefined, part: string): number {
  const { N: stored } = Object(value);
  if (typeof stored !== 'string' || stored.trim() === '' || !Number.isFinite(Number(stored))) {
    throw new CorruptRegistryError(part);
  }
  return Number(stored);
}
