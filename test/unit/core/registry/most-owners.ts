/** How many owners the fullest shard has after each owner, given the owners' shards in order. */
export function mostOwners(shardOfOwner: readonly number[], shards: number): number[] {
  const owners = new Array<number>(shards).fill(0);
  let most = 0;
  return shardOfOwner.map((shard) => {
    owners[shard]! += 1;
    most = Math.max(most, owners[shard]!);
    return most;
  });
}
