/** How a function is told about a sharded index that it writes or queries. */
export interface ShardedIndexBindingOptions {
  /**
   * The environment variable that holds the index's configuration, as JSON: letters, digits and underscores, starting
   * with a letter.
   *
   * @default - the name of the index in capitals, such as BY_STATUS for `byStatus`
   */
  readonly environmentVariable?: string;
}
