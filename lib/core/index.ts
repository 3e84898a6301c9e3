/** `cdk-even-shards/core`: every door but `cdk-even-shards/testing`, in one. */
export * from './adaptive-counts';
export * from './consumer';
export * from './keyspaces';
export * from './outbox';
export * from './planning';
export * from './producer';
export * from './registry';
export * from './resharding';
export * from './sharded-index';
