/**
 * For each owner that is added, the number of owners that the fullest shard then has. `shardOfOwner` contains the
 * shards of the owners in order.
 */
export function mostOwners(shardOfOwner: readonly number[], shards: number): number[] {
  const owners = new Array<number>(shards).fill(0);
  let most = 0;
  return shardOfOwner.map((shard) => {
    owners[shard]! += 1;
    most = Math.max(most, owners[shard]!);
    return most;
  });
}
