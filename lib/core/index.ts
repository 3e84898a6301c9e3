/** `cdk-even-shards/core`: the exports of all other entry points, except `cdk-even-shards/testing`. */
export * from './adaptive-counts';
export * from './consumer';
export * from './keyspaces';
export * from './outbox';
export * from './planning';
export * from './producer';
export * from './registry';
export * from './resharding';
export * from './sharded-index';
