import type { UserRecord } from './deaggregate';
import type { FencedMove, MoveProgress } from './fenced-move';
import type { SequencePosition } from './sequence-position';

/** A user record of a parked key, with the positions that identify its duplicates. */
export interface ParkedRecord extends UserRecord {
  /** The positions of the record. The position from its producer comes first. */
  positions: SequencePosition[];
  /** Present if the record begins like an aggregate but is not a valid aggregate. */
  isCorrupt?: true;
}

/** A parked key in a store. */
export interface ParkedKey {
  /** The partition key. */
  partitionKey: string;
  /** A unique value that changes with every write of the key. Absent for a key that is not parked yet. */
  revision?: string;
  /** The place of the records in the store. Each store has its own format for this value. */
  storageKey?: unknown;
  /** The number of the first waiting record. The numbers start at 0 when the key is parked. */
  first: number;
  /** The number that the next appended record gets. */
  next: number;
  /**
   * For each series of positions, the highest number of a parked record. A record of the series with this number or a lower
   * number is a duplicate, and is not appended.
   */
  parkedUpTo: Record<string, string>;
  /** The time since which the current first record blocks the key, in milliseconds since 1970. */
  since: number;
  /** How many times the first record was tried. The count starts again when a person resumes the key. */
  tries: number;
  /**
   * How many of these tries were replays. The count starts again when the key is parked or resumed, and when its first record
   * changes.
   */
  retries: number;
  /** When the next replay is due, in milliseconds since 1970. */
  dueAt: number;
  /** Whether the key is no longer replayed, until a person resumes it. */
  dead: boolean;
  /** The error message of the latest attempt, cut short. */
  lastError?: string;
  /** The process that replays the key, and the end of its lease in milliseconds since 1970. */
  lease?: { holder: string; until: number };
}

/** Options of a read or a write. */
export interface ReadOptions {
  /** When it aborts, the store sends no further request, and an incomplete read or write fails. */
  signal?: AbortSignal;
}

/**
 * The store for the parked keys of an `OrderedConsumer`. `DynamoDbParkingStore` and `MemoryParkingStore` implement it. Reads must
 * be strongly consistent: a read sees every write whose response came before the read began.
 */
export interface ParkingStore {
  /** Returns the parked keys among `partitionKeys`. While no key is parked, this method must need only one small read. */
  find(partitionKeys: Iterable<string>, options?: ReadOptions): Promise<Map<string, ParkedKey>>;
  /** All parked keys. */
  keys(): AsyncIterable<ParkedKey>;
  /** The records from `first` up to but not including `next`, in order. */
  records(key: ParkedKey): AsyncIterable<ParkedRecord>;
  /**
   * Changes the stored key if it still has the revision of `key`. If `key` has no revision, parks the key unless it is already
   * parked. Appends records in the same atomic write. May delete records before `first`.
   *
   * @returns the stored key; undefined if another process has changed it
   */
  save(key: ParkedKey, appended?: readonly ParkedRecord[], options?: ReadOptions): Promise<ParkedKey | undefined>;
  /** Removes a parked key that has no more waiting records. Returns false if another process has changed the key. */
  remove(key: ParkedKey): Promise<boolean>;
  /** Remembers that the consumer has handled a position whose record has no effect, such as a fence. */
  markHandled(partitionKey: string, position: SequencePosition): Promise<void>;
  /**
   * The item that makes a transaction take effect once, in the AWS SDK's terms. It is an `Update` that increases the attribute
   * `number` of the item of this key and series. If its condition fails, DynamoDB returns the stored item.
   */
  onceItem(partitionKey: string, position: SequencePosition): object;
  /** Stores that a move has ended. It must be idempotent, because callers repeat it after a lost response. */
  endMove(move: FencedMove): Promise<void>;
  /**
   * Adds to the time that readers have waited for a move, and returns the progress of the move. Add 0 to read the progress
   * without a change.
   */
  waitForMove(move: FencedMove, waitedMs: number): Promise<MoveProgress>;
  /** The name of the consumer, in tables that several consumers share. */
  readonly consumer: string;
}

/** A report about a parked key, for operators. */
export interface ParkedKeyReport {
  /** The partition key. */
  partitionKey: string;
  /** How many records of the key wait. */
  records: number;
  /** The time since which the current first record blocks the key. */
  since: Date;
  /** How many times the first record was tried. The count starts again when a person resumes the key. */
  tries: number;
  /** The error message of the latest attempt, cut short. */
  lastError?: string;
  /** Whether the key is no longer replayed, until a person resumes it. */
  dead: boolean;
}
export function parkedKeyReport({
  partitionKey,
  first,
  next,
  since,
  tries,
  lastError,
  dead,
}: ParkedKey): ParkedKeyReport {
  const report = { partitionKey, records: next - first, since: new Date(since), tries, dead };
  return lastError === undefined ? report : { ...report, lastError };
}
