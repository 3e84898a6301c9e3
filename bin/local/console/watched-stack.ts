import { DynamoDbShardCountReader } from '../../../lib/core/adaptive-counts/dynamodb-shard-count-store';
import { REGISTRY_TABLE_NAME, STREAM_NAME } from '../../../lib/core/contract/function-environment';
import { DynamoDbRegistryStore } from '../../../lib/core/registry/dynamodb-registry-store';
import type { Gates } from '../limits/gates';
import { type Parking, parkingsOf } from '../parkings';
import type { LocalStack } from '../run-local';
import { type Sharded, shardedConfigs } from '../sharded-configs';
import { CountHistory } from './count-history';
import { HashKeyNames } from './hash-key-names';

/** A stack, with the state that the local console keeps about the stack. */
export class WatchedStack {
  readonly sharded: readonly Sharded[];
  /** The parked keys of each function that parks keys. */
  readonly parkings: readonly Parking[];
  private readonly histories: ReadonlyMap<Sharded, CountHistory>;
  private readonly names: ReadonlyMap<string, HashKeyNames>;

  constructor(
    readonly stack: LocalStack,
    readonly gates: Gates,
  ) {
    const { dynamodb } = stack.ungatedClients;
    const nowMs = () => performance.now();
    this.sharded = shardedConfigs(stack);
    this.parkings = parkingsOf(stack);
    this.histories = new Map(
      this.sharded.flatMap((sharded) => {
        const { config } = sharded;
        if (config.indexName === undefined || config.adaptive === undefined) return [];
        return [[sharded, new CountHistory(new DynamoDbShardCountReader(dynamodb, config), nowMs)]];
      }),
    );
    this.names = new Map(
      stack.functions.flatMap(({ environment: { [STREAM_NAME]: stream, [REGISTRY_TABLE_NAME]: table } }) =>
        stream === undefined || table === undefined
          ? []
          : [[stream, new HashKeyNames(new DynamoDbRegistryStore(dynamodb, table), nowMs)]],
      ),
    );
  }

  /** The history of the shard counts of an index. Undefined if the counts are not adaptive. */
  historyOf(sharded: Sharded): CountHistory | undefined {
    return this.histories.get(sharded);
  }

  ownerOf(streamName: string, hashKey: bigint): string | undefined {
    return this.names.get(streamName)?.ownerOf(hashKey);
  }

  /** Reads the shard counts, and the owners of the busiest hash keys. */
  async poll(busiestHashKeys: (streamName: string) => readonly bigint[]): Promise<void> {
    await Promise.allSettled([
      ...[...this.histories.values()].map((history) => history.poll()),
      ...[...this.names].map(([streamName, names]) => names.refresh(busiestHashKeys(streamName))),
    ]);
  }
}
