import type { AttributeValue, DynamoDbItem } from '../aws-client/attribute-value';
import { checkItemFormat } from '../kernel/format-version';
import { IncompleteAnswerError } from '../kernel/incomplete-answer-error';
import type { FencedMove, MoveProgress } from './fenced-move';
import {
  PARKING_TABLE_TIME_TO_LIVE,
  type ParkingTableClient,
  PARKING_TABLE_KEY as PK,
  PARKING_TABLE_SORT_KEY as SK,
} from './parking-table';

/**
 * How long a move is remembered after its latest use: longer than the reader of one shard can be behind the reader of another
 * shard.
 */
const RETENTION_SECONDS = 8 * 24 * 60 * 60;

/**
 * Stores moves of keys in a parking table, with an item for each move of a key. The writes need no condition: an ended move stays
 * ended, and a waiting time only grows.
 */
export class ParkingMoves {
  constructor(
    private readonly client: ParkingTableClient,
    private readonly tableName: string,
    private readonly consumer: string,
  ) {}

  async end(move: FencedMove): Promise<void> {
    const expression = 'SET #hasEnded = :true, #expiresAt = :expiresAt';
    await this.update(move, expression, { '#hasEnded': 'hasEnded' }, { ':true': { BOOL: true } });
  }

  /** If the SDK repeats a request after a lost response, the time is added twice, and the records wait for a shorter time. */
  async wait(move: FencedMove, waitedMs: number): Promise<MoveProgress> {
    const added = { ':waitedMs': { N: String(Math.round(waitedMs)) } };
    const expression = 'SET #expiresAt = :expiresAt ADD #waitedMs :waitedMs';
    const item = await this.update(move, expression, { '#waitedMs': 'waitedMs' }, added);
    const { N: stored }: { N?: string } = Object(item.waitedMs);
    if (stored === undefined) throw new IncompleteAnswerError('UpdateItem', 'the attribute waitedMs');
    return { hasEnded: item.hasEnded !== undefined, waitedMs: Number(stored) };
  }

  private async update(
    { moveId, partitionKey }: FencedMove,
    expression: string,
    names: Record<string, string>,
    values: Record<string, AttributeValue>,
  ): Promise<DynamoDbItem> {
    const expiresAt = Math.floor(Date.now() / 1000 + RETENTION_SECONDS);
    const { Attributes }: { Attributes?: object } = Object(
      await this.client.updateItem({
        TableName: this.tableName,
        Key: { [PK]: { S: JSON.stringify([this.consumer, moveId, partitionKey]) }, [SK]: { S: 'move' } },
        UpdateExpression: expression,
        ExpressionAttributeNames: { ...names, '#expiresAt': PARKING_TABLE_TIME_TO_LIVE },
        ExpressionAttributeValues: { ...values, ':expiresAt': { N: String(expiresAt) } },
        ReturnValues: 'ALL_NEW',
      }),
    );
    const item: DynamoDbItem = Object(Attributes);
    checkItemFormat('move', item);
    return item;
  }
}
