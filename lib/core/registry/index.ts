/**
 * `cdk-even-shards/registry`: the hash key space of a stream, balanced hash keys, and the registry that allocates them.
 *
 * @module registry
 */
export type { Clock } from '../kernel/clock';
export {
  EvenShardsError,
  InvalidArgumentError,
  InvalidHashKeyError,
  InvalidHashKeyRangesError,
} from '../kernel/errors';
export { NewerFormatError, type StoredFormat } from '../kernel/format-version';
export { type HashKeyRange, shardIndexOf, uniformRanges } from '../stream-format/hash-key-ranges';
export { HASH_KEY_SPACE, hashPartitionKey } from '../stream-format/hash-key-space';
export { balancedKey } from './balanced-key';
export { BalancedKeyAllocator, type BalancedKeyAllocatorOptions, type WeightedHashKey } from './balanced-key-allocator';
export {
  DynamoDbRegistryStore,
  type RegistryGetItemInput,
  type RegistryItem,
  type RegistryPutItemInput,
  type RegistryScanInput,
  type RegistryTableClient,
} from './dynamodb-registry-store';
export { type HandOver, handOver } from './hand-over';
export {
  HashKeyLedger,
  type HashKeyLedgerOptions,
  type HashKeyMove,
  type OwnerRequest,
  PartialRebalanceError,
  readOwners,
} from './hash-key-ledger';
export type { HashKeyOwner } from './hash-key-owner';
export { type RebalanceMove, type RebalancePlan, rebalancePlan } from './rebalance-plan';
export {
  CorruptRegistryError,
  InvalidWeightError,
  KeySpaceExhaustedError,
  RegistryBusyError,
  RegistryStoreError,
  StaleMoveError,
  UncertainCommitError,
} from './registry-errors';
export type { RegistryEntry, RegistryHead, RegistryStore } from './registry-store';
