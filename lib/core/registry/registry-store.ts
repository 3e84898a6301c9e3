/** The state of one owner after one commit. */
export interface RegistryEntry {
  /** The name of the owner. */
  owner: string;
  /** The version of the commit. */
  version: number;
  /** The owner's hash key. Absent if the commit released the owner. */
  hashKey?: bigint;
  /** The owner's weight. */
  weight: number;
}

/** The latest version of a registry. To commit a change is to write the head of the next version. */
export interface RegistryHead {
  /** The number of commits so far. */
  version: number;
  /** The entries of the latest commits, that of this version included. They are whole commits in ascending order. */
  recent: readonly RegistryEntry[];
  /**
   * The ids of the latest commits, ascending by version, that of this version last. By its id a ledger recognises its own
   * commit if the answer to it was lost. Absent in a head that an earlier release wrote.
   */
  commits?: readonly string[];
}

/**
 * What a registry needs from a database: strongly consistent reads, and conditional writes of single items. It needs no
 * transactions, and no order between the writes of two items. Implement it to keep a registry in another database than
 * DynamoDB.
 */
export interface RegistryStore {
  /** Reads the head. Undefined before the first commit. */
  readHead(): Promise<RegistryHead | undefined>;
  /**
   * Writes the head if the stored version is `expected`, or if none is stored and `expected` is 0.
   *
   * @returns true if it was written. Otherwise the head that is stored, if the database returns it with the refusal; if not,
   *   false, and the ledger reads it.
   */
  writeHead(head: RegistryHead, expected: number): Promise<RegistryHead | boolean>;
  /** Reads the owner's entry. Undefined if no entry of the owner is stored. */
  readEntry(owner: string): Promise<RegistryEntry | undefined>;
  /** Reads the entries of all owners. An entry that is written meanwhile may be read as it was before or after. */
  readEntries(): Promise<RegistryEntry[]>;
  /** Writes the owner's entry, unless an entry of the same or a later version is stored. */
  writeEntry(entry: RegistryEntry): Promise<void>;
}
