/** How the key of a sharded index holds the value and the shard. */
export enum KeyLayout {
  /**
   * The partition key is two attributes, the value and the shard: items stay readable, and the shard is a number.
   *
   * DynamoDB has multi-attribute keys for global secondary indexes since November 2025; tools and emulators may lag.
   *
   * @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/GSI.DesignPattern.MultiAttributeKeys.html
   */
  MULTI_ATTRIBUTE = 'multi-attribute',

  /**
   * The partition key is one attribute that holds the string "value#shard", or the shard's number if the index covers
   * the whole table. Every tool understands it; it has no tie-breakers.
   */
  SINGLE_ATTRIBUTE = 'single-attribute',
}
