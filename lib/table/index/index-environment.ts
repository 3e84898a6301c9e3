import type { Stack } from 'aws-cdk-lib';
import { checkOwnEnvironment } from '../../construct/own-environment';
import type { IShardedIndexRef } from './i-sharded-index-ref';

/** Throws an error with the code `INVALID_ARGUMENT` unless an index, and its table of counts, are where its users are. */
export function checkIndexEnvironment(
  field: string,
  what: string,
  { table, shardCountTable }: IShardedIndexRef,
  stack: Stack,
): void {
  checkOwnEnvironment(field, what, table, stack);
  if (shardCountTable !== undefined)
    checkOwnEnvironment(field, `the shardCountTable of ${what}`, shardCountTable, stack);
}
