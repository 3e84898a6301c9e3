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

/** The latest version of a registry. A ledger commits a change when it writes the head of the next version. */
export interface RegistryHead {
  /** The number of commits. */
  version: number;
  /** All entries of the latest commits, in ascending order. The last entries belong to commit number `version`. */
  recent: readonly RegistryEntry[];
  /**
   * The ids of the latest commits, in ascending order. The last id is the id of commit number `version`. After a lost response,
   * a ledger finds out from these ids whether its own commit was applied. Absent in a head that an earlier release wrote.
   */
  commits?: readonly string[];
}

/**
 * The database of a registry. It needs strongly consistent reads, and conditional writes of single items. It needs no
 * transactions, and no order between the writes of two items. Implement it to store a registry in a database other than DynamoDB.
 */
export interface RegistryStore {
  /** Reads the head. Undefined before the first commit. */
  readHead(): Promise<RegistryHead | undefined>;
  /**
   * Writes the head if the stored version is `expected`, or if no head is stored and `expected` is 0.
   *
   * @returns true if the head was written; otherwise the stored head, or false if the database does not return the stored head
   */
  writeHead(head: RegistryHead, expected: number): Promise<RegistryHead | boolean>;
  /** Reads the owner's entry. Undefined if no entry of the owner is stored. */
  readEntry(owner: string): Promise<RegistryEntry | undefined>;
  /**
   * Reads the entries of all owners. If an entry is written during the read, the result may contain its old or its new version.
   */
  readEntries(): Promise<RegistryEntry[]>;
  /** Writes the owner's entry, unless an entry of the same or a later version is stored. */
  writeEntry(entry: RegistryEntry): Promise<void>;
}
