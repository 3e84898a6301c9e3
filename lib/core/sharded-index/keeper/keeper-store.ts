import type { DynamoDbItem } from '../../aws-client/attribute-value';
import type { StrayReason } from '../strays/stray';

/**
 * Why a keeper has set an item aside. `contested`: another program undoes the corrections. `rejected`: DynamoDB rejects the
 * correction, for example because the item would exceed 400 KB.
 */
export type SetAsideReason = 'contested' | 'rejected';

/** An item that a keeper reports by its key. */
export interface NamedItem {
  /** The table key of the item. */
  key: DynamoDbItem;
  /** The table key as text. */
  keyText: string;
  /** Why the keeper reports the item. The keeper cannot correct an `invalidValue`, an `invalidKey` or a missing sort key. */
  reason: SetAsideReason | StrayReason | 'invalidKey';
  /** When the keeper first reported the item for this reason, in milliseconds since 1970. */
  sinceMs: number;
  /** When the keeper checks the item again, in milliseconds since 1970. Absent if the keeper does not check it again. */
  dueAtMs?: number;
  /** How often the keeper has checked the item again. */
  checks: number;
}

/**
 * Why the whole table is checked:
 *
 * - `firstRecords`: the items are older than the keeper
 * - `anotherStream`: the stream of the table was turned off and on again
 * - `lateRecords`: the keeper was behind for almost as long as a stream keeps records
 * - `requested`: a person has started the sweep for another reason
 */
export type SweepReason = 'firstRecords' | 'anotherStream' | 'lateRecords' | 'requested';

/** A check of the whole table. */
export interface Sweep {
  reason: SweepReason;
  /** When the sweep became due, in milliseconds since 1970. */
  dueSinceMs: number;
  /** Whether a person has started the sweep. */
  isStarted: boolean;
  /** The key of the last checked item. Absent at the beginning of the table. */
  position?: DynamoDbItem;
  /** How many items the sweep has checked and corrected. */
  checked: number;
  corrected: number;
}

/** The state of a keeper. */
export interface KeeperState {
  /** The number of changes of the state. */
  version: number;
  /** The ARN of the stream whose records the keeper has last processed. */
  streamArn: string;
  /** The sweep that is due or in progress. Absent if no sweep is necessary. */
  sweep?: Sweep;
}

/** A page of named items, and the cursor of the next page. */
export interface NamedItems {
  items: NamedItem[];
  cursor?: string;
}

/** Keeps the state of a keeper, and the items that it reports by their keys. */
export interface KeeperStore {
  /** The state. Undefined before the first record. */
  readState(): Promise<KeeperState | undefined>;
  /** Replaces the state, unless another process has changed it since `before` was read. Returns whether it was replaced. */
  replaceState(before: KeeperState | undefined, next: Omit<KeeperState, 'version'>): Promise<boolean>;
  /** Adds an item, or replaces an item with the same key. An item that is not checked again expires after a day. */
  put(item: NamedItem): Promise<void>;
  remove(keyText: string): Promise<void>;
  /** A page of the items. */
  page(cursor?: string): Promise<NamedItems>;
}

/** The partition key of the table of a keeper, a string. */
export const KEEPER_TABLE_KEY = 'id';
/** The sort key of the table of a keeper, a string. */
export const KEEPER_TABLE_SORT_KEY = 'item';
/** The time-to-live attribute of the table of a keeper. The state, and items that are checked again, do not have it. */
export const KEEPER_TABLE_TIME_TO_LIVE = 'expiresAt';
