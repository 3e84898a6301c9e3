import { createHash } from 'node:crypto';
import { serialize } from 'node:v8';
import { isObject } from '../kernel/checks';
import { InvalidArgumentError } from '../kernel/errors';
import { OnceRepeatedError, RecordDoneError } from './consumer-errors';
import type { ParkingStore } from './parking-store';
import type { SequencePosition } from './sequence-position';

/** The part of a Postgres client that `once.postgres` uses. A `Client` and a `PoolClient` of `pg` fit without an adapter. */
export interface OncePostgresClient {
  /** Without `rows`, `once` cannot find out whether an earlier transaction of the attempt was rolled back. */
  query(text: string, values: unknown[]): Promise<{ rowCount: number | null; rows?: unknown[] }>;
}

/** Writes the effect of a record and the number of the record in one transaction, so that each record takes effect once. */
export interface Once {
  /**
   * Use it for an effect in DynamoDB. The transaction fails if the record has already taken effect. Do not catch this error,
   * because the consumer needs the error to count the record as done. Put all effects of a record into one transaction.
   *
   *     await dynamodb.transactWriteItems({ TransactItems: once([{ Put: { TableName: 'Orders', Item } }]) });
   *
   * You can send the transaction with a client that takes attribute values, or with a document client. The item that `once` adds
   * may have any position in the transaction.
   *
   * @param transactItems the items of your transaction, at most 99
   * @returns the items of the transaction to send: your items, and the item that `once` adds
   * @throws InvalidArgumentError for more than 99 items
   * @throws OnceRepeatedError if the attempt has already used `once` with other items. The consumer then marks the key of the
   *   record as dead, and does not replay the key until a person resumes it
   */
  <T extends object>(transactItems: readonly T[]): T[];
  /**
   * Use it for an effect in Postgres. Call this method first in your transaction, and roll the transaction back if the method
   * throws. The method needs the table of `ONCE_POSTGRES_TABLE`. Put all effects of a record into one transaction. Call it again
   * in the same attempt only to repeat a transaction that was rolled back.
   *
   * @throws RecordDoneError if the record has already taken effect
   * @throws OnceRepeatedError if an earlier transaction of the attempt has taken effect. The consumer then marks the key of the
   *   record as dead, and does not replay the key until a person resumes it
   */
  postgres(client: OncePostgresClient): Promise<void>;
}

/** The statement that creates the table of `once.postgres`. Run it with your migrations. */
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
 * The maximum number of the caller's items in a transaction. A DynamoDB transaction can have 100 items, and `once` adds one
 * item.
 */
const MAX_ITEMS = 99;

/** The row stays locked until the transaction ends, so that a concurrent transaction sees the result of the first transaction. */
const INCREASE_NUMBER = `
INSERT INTO even_shards_done AS done (consumer, partition_key, series, number)
VALUES ($1, $2, $3, $4)
ON CONFLICT (consumer, partition_key, series)
DO UPDATE SET number = excluded.number, done_at = now() WHERE done.number < excluded.number
RETURNING pg_current_xact_id()::text AS transaction`;

/** Returns a row if the transaction was rolled back. */
const ROLLED_BACK = "SELECT 1 WHERE pg_xact_status($1::xid8) = 'aborted'";

/**
 * For each error that `once` threw, the attempt that used `once`. If a handler creates a `RecordDoneError` itself, the error is
 * not in this map. The consumer then counts the record of that handler as done.
 */
const ATTEMPT_OF_ERROR = new WeakMap<RecordDoneError, AttemptOnce>();

/**
 * The `once` of one attempt at a record. It also finds out whether an error means that the condition of this `once` has failed.
 */
export class AttemptOnce {
  readonly once: Once;
  /** Set after the attempt has used `once` for a second transaction. */
  mistake?: OnceRepeatedError;
  /**
   * A copy of the items of the first transaction, because the handler may change the items and send them as another transaction.
   */
  private firstItems?: { count: number; bytes: Uint8Array };
  private ownKey?: Record<string, unknown>;
  private postgresCalls = 0;
  /** The last transaction that has increased the number in Postgres: its id, or undefined if the client returns no rows. */
  private increasedIn?: { transaction: unknown };

  constructor(
    private readonly parking: ParkingStore,
    private readonly partitionKey: string,
    private readonly position: SequencePosition,
  ) {
    const once = <T extends object>(transactItems: readonly T[]): T[] => this.inDynamoDb(transactItems);
    this.once = Object.assign(once, { postgres: (client: OncePostgresClient) => this.inPostgres(client) });
  }

  private inDynamoDb<T extends object>(transactItems: readonly T[]): T[] {
    if (!Array.isArray(transactItems) || transactItems.length > MAX_ITEMS) {
      const got = Array.isArray(transactItems) ? `${transactItems.length} items` : transactItems;
      throw new InvalidArgumentError('transactItems', got, `an array of at most ${MAX_ITEMS} items (once adds one)`);
    }
    const { firstItems: before } = this;
    const bytes = bytesOf(transactItems);
    // A repeated transaction has the same items. If the list is empty, a second transaction cannot be recognised as a repetition.
    const isOther = before !== undefined && (before.count === 0 || !bytes.equals(before.bytes));
    if (isOther || this.postgresCalls > 0) throw this.repeated();
    this.firstItems = { count: transactItems.length, bytes };
    const own = this.parking.onceItem(this.partitionKey, this.position);
    this.ownKey = Object(own).Update?.Key;
    return [own as T, ...transactItems];
  }

  private async inPostgres(client: OncePostgresClient): Promise<void> {
    if (this.firstItems !== undefined) throw this.repeated();
    this.postgresCalls += 1;
    const { consumer } = this.parking;
    const values = [consumer, this.partitionKey, this.position.series, this.position.number].map(postgresText);
    const { rowCount, rows = [] } = await client.query(INCREASE_NUMBER, values);
    if (rowCount !== 1) throw (await this.mayHaveCommitted(client)) ? this.repeated() : this.doneError();
    this.increasedIn = { transaction: Object(rows[0]).transaction };
  }

  /** Whether an earlier transaction of the attempt may have committed. If not, another process has handled the record. */
  private async mayHaveCommitted(client: OncePostgresClient): Promise<boolean> {
    if (this.increasedIn === undefined) return false;
    const { transaction } = this.increasedIn;
    if (transaction === undefined) return true;
    return (await client.query(ROLLED_BACK, [transaction])).rowCount !== 1;
  }

  private doneError(): RecordDoneError {
    const error = new RecordDoneError();
    ATTEMPT_OF_ERROR.set(error, this);
    return error;
  }

  private repeated(): OnceRepeatedError {
    this.mistake ??= new OnceRepeatedError();
    return this.mistake;
  }

  /** Whether the cancellation reasons of a transaction show that the condition of this `once` has failed. */
  isOwnCondition(reasons: readonly unknown[]): boolean {
    const ownKey = Object.entries(this.ownKey ?? {});
    return reasons.some((reason) => {
      const { Code, Item } = Object(reason);
      if (Code !== 'ConditionalCheckFailed' || ownKey.length === 0) return false;
      const item: Record<string, unknown> = Object(Item);
      const isSame = ownKey.every(([name, value]) => textOf(item[name]) === textOf(value));
      // A lower number means that the item is from an earlier record of the key.
      return isSame && String(textOf(item.number)) >= this.position.number;
    });
  }
}

/** @throws InvalidArgumentError for items with a function or a symbol, which DynamoDB cannot store */
function bytesOf(transactItems: readonly object[]): Buffer {
  try {
    return serialize(transactItems);
  } catch {
    throw new InvalidArgumentError(
      'transactItems',
      'items with a function or a symbol',
      'items that DynamoDB can store',
    );
  }
}

/** The text of an attribute value, or of the plain value of a document client. */
function textOf(value: unknown): unknown {
  return typeof value === 'string' ? value : Object(value).S;
}

/**
 * The maximum number of bytes of a text in the primary key. An index row of Postgres has at most 2,704 bytes, and contains three
 * texts.
 */
const LONGEST_POSTGRES_BYTES = 800;
const HASHED = 'sha256:';

/**
 * Converts a text to a text that Postgres accepts: without NUL, which a partition key may contain, and short enough for an index.
 * Different texts stay different.
 */
function postgresText(text: string): string {
  const escaped = text.replaceAll('\\', '\\\\').replaceAll('\0', '\\0');
  const isShort = Buffer.byteLength(escaped) <= LONGEST_POSTGRES_BYTES && !text.startsWith(HASHED);
  return isShort ? escaped : `${HASHED}${createHash('sha256').update(text).digest('base64url')}`;
}

/** The maximum number of errors that are checked: the handler's error, and the errors of its `cause` chain. */
const MAX_CAUSES = 10;

/** Whether the error of an attempt means that the record has already taken effect. */
export function isDoneError(error: unknown, attemptOnce?: AttemptOnce): boolean {
  try {
    return isDone(error, attemptOnce);
  } catch {
    // A handler may throw anything, even a value that cannot be read.
    return false;
  }
}

function isDone(error: unknown, attemptOnce: AttemptOnce | undefined): boolean {
  let each: unknown = error;
  for (let cause = 0; cause < MAX_CAUSES && isObject(each); cause++) {
    if (each instanceof RecordDoneError) return (ATTEMPT_OF_ERROR.get(each) ?? attemptOnce) === attemptOnce;
    const { name, CancellationReasons: reasons, cause: next } = each;
    if (name === 'TransactionCanceledException' && Array.isArray(reasons) && attemptOnce?.isOwnCondition(reasons)) {
      return true;
    }
    each = next;
  }
  return false;
}
