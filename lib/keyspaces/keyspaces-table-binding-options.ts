/** How a function is told about a sharded table. */
export interface KeyspacesTableBindingOptions {
  /**
   * The environment variable that gets the table's configuration as JSON: letters, digits and underscores, starting with a
   * letter.
   *
   * @default - the table's name in capitals, such as `BLOGS` for `blogs`
   */
  readonly environmentVariable?: string;
}
