import type { UserRecord } from './deaggregate';
import type { FencedMove, MoveProgress } from './fenced-move';
import type { SequencePosition } from './sequence-position';

/** A user record that waits, with the positions by which its duplicates are recognised. */
export interface ParkedRecord extends UserRecord {
  /** The positions of the record. The one that its producer gave comes first. */
  positions: SequencePosition[];
  /** Present if the record begins like an aggregate but is not one. */
  isCorrupt?: true;
}

/** A key whose records wait, as a store keeps it. */
export interface ParkedKey {
  /** The partition key. */
  partitionKey: string;
  /** A value that is new after each change, and never repeats. Absent for a key that is not parked yet. */
  revision?: string;
  /** Names where the store keeps the records. Only the store knows what it means. */
  storageKey?: unknown;
  /** The number of the first record that waits. The count starts when the key is parked. */
  first: number;
  /** The number of the record that comes next. */
  next: number;
  /** The highest number of each series that was parked. With it, a duplicate is not appended. */
  parkedUpTo: Record<string, string>;
  /** When its present first record became the first one, in milliseconds since 1970. */
  since: number;
  /** How often its first record was tried. The count begins anew when somebody resumes the key. */
  tries: number;
  /**
   * How many of the tries were retries. The count begins anew when the key is parked or resumed, and when its first record
   * changes.
   */
  retries: number;
  /** When it is tried next, in milliseconds since 1970. */
  dueAt: number;
  /** Whether retries have ended, until a person resumes the key. */
  dead: boolean;
  /** The error of the last attempt, cut short. */
  lastError?: string;
  /** Who tries the key at present, and until when at most. */
  lease?: { holder: string; until: number };
}

/** What can end a read early. */
export interface ReadOptions {
  /** When it aborts, a read that is not complete fails. */
  signal?: AbortSignal;
}

/**
 * Where an `OrderedConsumer` keeps the keys that it has set aside. `DynamoDbParkingStore` and `MemoryParkingStore`
 * implement it. Every read must see every write that was answered before the read began.
 */
export interface ParkingStore {
  /** Returns those of the keys that are parked. While no key is parked, this must be one small read. */
  find(partitionKeys: Iterable<string>, options?: ReadOptions): Promise<Map<string, ParkedKey>>;
  /** Every key that is parked. */
  keys(): AsyncIterable<ParkedKey>;
  /** The records from `first` up to `next`, in order. */
  records(key: ParkedKey): AsyncIterable<ParkedRecord>;
  /**
   * Changes a key if it still has its revision, or parks a key without a revision if it is not parked yet, and appends
   * records. It does all of this or nothing. Records before `first` may be deleted.
   *
   * @returns the key as it is stored then; undefined if somebody else has changed it
   */
  save(key: ParkedKey, appended?: readonly ParkedRecord[]): Promise<ParkedKey | undefined>;
  /** Ends the parking of a key without records. Returns false if somebody else has changed the key. */
  remove(key: ParkedKey): Promise<boolean>;
  /** Remembers that the consumer has handled a position, although no effect was saved with it. */
  markHandled(partitionKey: string, position: SequencePosition): Promise<void>;
  /**
   * The item that a transaction must include to take effect once, as the AWS SDK writes it: an `Update` of an item of this key and
   * series, whose attribute `number` it increases, and which its failed condition returns.
   */
  onceItem(partitionKey: string, position: SequencePosition): object;
  /** Records that a move has ended. A caller repeats the call if its response was lost. */
  endMove(move: FencedMove): Promise<void>;
  /** Adds to the time that readers have waited for a move, and returns what is known then. Add 0 to only read. */
  waitForMove(move: FencedMove, waitedMs: number): Promise<MoveProgress>;
  /** Names the consumer in tables that several share. */
  readonly consumer: string;
}

/** A key that is set aside, for people. */
export interface ParkedKeyReport {
  /** The partition key. */
  partitionKey: string;
  /** How many records of it wait. */
  records: number;
  /** When its present first record became the first one. */
  since: Date;
  /** How often its first record was tried. The count begins anew when somebody resumes the key. */
  tries: number;
  /** The error of the last attempt, cut short. */
  lastError?: string;
  /** Whether retries have ended, until a person resumes the key. */
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
