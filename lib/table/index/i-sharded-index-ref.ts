import type * as dynamodb from 'aws-cdk-lib/aws-dynamodb';

/** What identifies a sharded index, and all that permissions on it need to know. */
export interface IShardedIndexRef {
  /** The table the index belongs to. */
  readonly table: dynamodb.ITableV2;

  /** The name of the index. */
  readonly indexName: string;

  /** The ARN of the index: `<table ARN>/index/<index name>`. */
  readonly indexArn: string;

  /** The table that holds the counts of the values that have grown. Undefined if the counts are fixed. */
  readonly shardCountTable?: dynamodb.ITableV2;
}
