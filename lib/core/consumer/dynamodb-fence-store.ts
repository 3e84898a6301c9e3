import type { AttributeValue, DynamoDbItem } from '../aws-client/attribute-value';
import { checkClient } from '../aws-client/client-check';
import { InvalidArgumentError } from '../kernel/errors';
import { IncompleteAnswerError } from '../kernel/incomplete-answer-error';
import type { FencedMove, FenceStore, MoveProgress } from './fence-store';

/** An item of a table of fences, or its key, in the SDK's types. */
// biome-ignore lint/suspicious/noExplicitAny: the SDK's AttributeValue has a further member for unknown types
export type FenceItem = Record<string, any>;

/** The input of `updateItem`. */
export interface FenceUpdateItemInput {
  TableName: string;
  Key: FenceItem;
  UpdateExpression: string;
  ExpressionAttributeNames: Record<string, string>;
  ExpressionAttributeValues: FenceItem;
  ReturnValues: 'ALL_NEW';
}

/** What a `DynamoDbFenceStore` needs of DynamoDB. The AWS SDK's `new DynamoDB({})` satisfies it as it is. */
export interface FenceTableClient {
  updateItem(input: FenceUpdateItemInput): Promise<{ Attributes?: object }>;
}

/** Where a `DynamoDbFenceStore` keeps moves. */
export interface DynamoDbFenceStoreOptions {
  /** The table. Its partition key is `id`, a string; it has no sort key. Its time-to-live attribute is `expiresAt`. */
  tableName: string;
  /**
   * Names the consumer, in 1 to 256 characters: what one consumer has processed says nothing about another. A consumer
   * that starts anew from the beginning of the stream needs a new name.
   */
  consumer: string;
  /**
   * How long a move is remembered, in days from when it was last used. It must be longer than one shard can be behind
   * another.
   * @default 8
   */
  retentionDays?: number;
}

const DEFAULT_RETENTION_DAYS = 8;
const SECONDS_PER_DAY = 24 * 60 * 60;

/** Keeps moves in a DynamoDB table, an item for each move of a key, for a consumer of several processes or functions. */
export class DynamoDbFenceStore implements FenceStore {
  private readonly retentionSeconds: number;

  /** @throws InvalidArgumentError if the client lacks a method, or if `consumer` or `retentionDays` is out of its bounds */
  constructor(
    private readonly client: FenceTableClient,
    private readonly options: DynamoDbFenceStoreOptions,
  ) {
    checkClient(client, ['updateItem']);
    const { consumer, retentionDays = DEFAULT_RETENTION_DAYS } = options;
    if (typeof consumer !== 'string' || !/^.{1,256}$/su.test(consumer)) {
      throw new InvalidArgumentError('consumer', consumer, 'a string of 1 to 256 characters');
    }
    if (!(retentionDays > 0 && retentionDays < Infinity)) {
      throw new InvalidArgumentError('retentionDays', retentionDays, 'a number of days, more than 0');
    }
    this.retentionSeconds = retentionDays * SECONDS_PER_DAY;
  }

  async end(move: FencedMove): Promise<void> {
    await this.update(move, 'SET #hasEnded = :true, #expiresAt = :expiresAt', '#hasEnded', { ':true': { BOOL: true } });
  }

  /**
   * If the SDK repeats a call after a lost answer, the time is added twice, and the gate lets the move go that much
   * earlier.
   */
  async wait(move: FencedMove, waitedMs: number): Promise<MoveProgress> {
    const added = { ':waitedMs': { N: String(Math.round(waitedMs)) } };
    const item = await this.update(move, 'SET #expiresAt = :expiresAt ADD #waitedMs :waitedMs', '#waitedMs', added);
    const { N: stored }: { N?: string } = Object(item.waitedMs);
    if (stored === undefined) throw new IncompleteAnswerError('UpdateItem', 'the attribute waitedMs');
    return { hasEnded: item.hasEnded !== undefined, waitedMs: Number(stored) };
  }

  private async update(
    { moveId, partitionKey }: FencedMove,
    expression: string,
    name: string,
    values: Record<string, AttributeValue>,
  ): Promise<DynamoDbItem> {
    const { tableName, consumer } = this.options;
    const expiresAt = Math.floor(Date.now() / 1000 + this.retentionSeconds);
    const { Attributes }: { Attributes?: object } = Object(
      await this.client.updateItem({
        TableName: tableName,
        Key: { id: { S: JSON.stringify([consumer, moveId, partitionKey]) } },
        UpdateExpression: expression,
        ExpressionAttributeNames: { [name]: name.slice(1), '#expiresAt': 'expiresAt' },
        ExpressionAttributeValues: { ...values, ':expiresAt': { N: String(expiresAt) } },
        ReturnValues: 'ALL_NEW',
      }),
    );
    return Object(Attributes) as DynamoDbItem;
  }
}
