/** What a commit says of one owner. */
export interface RegistryEntry {
  owner: string;
  /** The commit's version. */
  version: number;
  /** The owner's key; absent: the owner was released. */
  hashKey?: bigint;
  weight: number;
}

/** Where a registry stands. Its version counts commits; whoever writes the head of the next version has committed it. */
export interface RegistryHead {
  version: number;
  /** The entries of the latest commits, whole commits in ascending order, the head's own among them. */
  recent: readonly RegistryEntry[];
}

/**
 * What a registry needs of a database: strongly consistent reads, and conditional writes of single items. No transaction,
 * no order between two items.
 */
export interface RegistryStore {
  /** Undefined before the first commit. */
  readHead(): Promise<RegistryHead | undefined>;
  /** Writes the head if its version is still `expected`, 0 for none yet. False if it is not. */
  writeHead(head: RegistryHead, expected: number): Promise<boolean>;
  /** The owner's entry, if one was ever written. */
  readEntry(owner: string): Promise<RegistryEntry | undefined>;
  /** Every owner's entry. One that is written meanwhile may be read before or after. */
  readEntries(): Promise<RegistryEntry[]>;
  /** Writes the owner's entry unless one of the same or a later version is there. */
  writeEntry(entry: RegistryEntry): Promise<void>;
}
