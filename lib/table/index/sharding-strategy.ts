/** How a writer picks the shard of an item. */
export enum ShardingStrategy {
  /**
   * The shard follows from the item's table key, by a hash: writing the same item again finds the same shard, and one
   * item can be looked up in one shard.
   */
  CALCULATED = 'calculated',

  /**
   * The shard is drawn for each write: the load is even whatever the table keys are. Writing an item again moves it to
   * another shard, in which readers see it a moment later.
   */
  RANDOM = 'random',
}
