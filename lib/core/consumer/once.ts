import { RecordDoneError } from './consumer-errors';
import type { ParkingStore } from './parking-store';
import type { Place } from './place';

/** What `once.postgres` needs of a client of Postgres. A `Client` and a `PoolClient` of `pg` satisfy it as they are. */
export interface OncePostgresClient {
  query(text: string, values: unknown[]): Promise<{ rowCount: number | null }>;
}

/** Makes the effect of a record and the number of the record one write, so that each record takes effect once. */
export interface Once {
  /**
   * For an effect in DynamoDB. The transaction fails if the record has taken effect before: let the error pass, and the
   * consumer counts the record as done.
   *
   *     await dynamodb.transactWriteItems({ TransactItems: once([{ Put: { TableName: 'Orders', Item } }]) });
   *
   * @param transactItems the items of your transaction, 99 at most
   * @returns the items of the transaction to send, one more
   */
  <T extends object>(transactItems: readonly T[]): T[];
  /**
   * For an effect in Postgres. Call it first in your transaction, and let what it throws roll the transaction back. It needs
   * the table of `ONCE_POSTGRES_TABLE`.
   *
   * @throws RecordDoneError if the record has taken effect before
   */
  postgres(client: OncePostgresClient): Promise<void>;
}

/** The statement that makes the table of `once.postgres`. Run it once, with your migrations. */
export const ONCE_POSTGRES_TABLE = `
CREATE TABLE IF NOT EXISTS even_shards_done (
  consumer text NOT NULL,
  partition_key text NOT NULL,
  series text NOT NULL,
  number text COLLATE "C" NOT NULL,
  done_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (consumer, partition_key, series)
)`;

/**
 * The row stays locked until the transaction ends, so that a second transaction at the same time sees what the first has
 * done.
 */
const RAISE_NUMBER = `
INSERT INTO even_shards_done AS done (consumer, partition_key, series, number)
VALUES ($1, $2, $3, $4)
ON CONFLICT (consumer, partition_key, series)
DO UPDATE SET number = excluded.number, done_at = now() WHERE done.number < excluded.number`;

export function onceFor(parking: ParkingStore, partitionKey: string, place: Place): Once {
  const once = <T extends object>(transactItems: readonly T[]): T[] => [
    parking.onceItem(partitionKey, place) as T,
    ...transactItems,
  ];
  return Object.assign(once, {
    async postgres(client: OncePostgresClient): Promise<void> {
      const values = [parking.consumer, partitionKey, place.series, place.number].map(withoutNul);
      const { rowCount } = await client.query(RAISE_NUMBER, values);
      if (rowCount !== 1) throw new RecordDoneError();
    },
  });
}

/** Postgres accepts no NUL in a text, and a partition key may hold one. Different texts stay different. */
function withoutNul(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\0', '\\0');
}

/** How many causes deep the error may be within what a handler throws. */
const MOST_CAUSES = 10;

/** Whether an error says that the record has taken effect before. */
export function saysDone(error: unknown): boolean {
  try {
    return isDone(error);
  } catch {
    // A handler may throw anything, even a value that cannot be read.
    return false;
  }
}

function isDone(error: unknown): boolean {
  let each: unknown = error;
  for (let cause = 0; cause < MOST_CAUSES && typeof each === 'object' && each !== null; cause++) {
    if (each instanceof RecordDoneError) return true;
    const { name, CancellationReasons: reasons, cause: next } = each as Record<string, unknown>;
    if (name === 'TransactionCanceledException' && Array.isArray(reasons) && isDoneReason(reasons[0])) return true;
    each = next;
  }
  return false;
}

/** The condition of `once` is the only one that returns the item that it failed on. */
function isDoneReason(reason: unknown): boolean {
  const { Code, Item } = Object(reason);
  return Code === 'ConditionalCheckFailed' && Object(Item).isDone !== undefined;
}
