/** The part of a Kinesis client that resharding uses. The AWS SDK's `new Kinesis({})` fits without an adapter. */
export interface ReshardClient {
  describeStreamSummary(input: { StreamName: string }): Promise<{
    StreamDescriptionSummary?: StreamSummary | undefined;
  }>;
  listShards(input: {
    StreamName?: string;
    NextToken?: string;
    ShardFilter?: { Type: 'AT_LATEST' };
  }): Promise<{ Shards?: ListedShard[] | undefined; NextToken?: string | undefined }>;
  updateShardCount(input: {
    StreamName: string;
    TargetShardCount: number;
    ScalingType: 'UNIFORM_SCALING';
  }): Promise<unknown>;
  splitShard(input: { StreamName: string; ShardToSplit: string; NewStartingHashKey: string }): Promise<unknown>;
  mergeShards(input: { StreamName: string; ShardToMerge: string; AdjacentShardToMerge: string }): Promise<unknown>;
  listTagsForStream(input: { StreamName: string; ExclusiveStartTagKey?: string }): Promise<{
    Tags?: { Key?: string | undefined; Value?: string | undefined }[] | undefined;
    HasMoreTags?: boolean | undefined;
  }>;
  addTagsToStream(input: { StreamName: string; Tags: Record<string, string> }): Promise<unknown>;
}

/** The part of the summary of a stream that resharding reads, in the AWS SDK's terms. */
export interface StreamSummary {
  StreamStatus?: string | undefined;
  StreamModeDetails?: { StreamMode?: string | undefined } | undefined;
  OpenShardCount?: number | undefined;
}

/** A shard as ListShards returns it, in the AWS SDK's terms. */
export interface ListedShard {
  ShardId?: string | undefined;
  HashKeyRange?: { StartingHashKey?: string | undefined; EndingHashKey?: string | undefined } | undefined;
  SequenceNumberRange?: { EndingSequenceNumber?: string | undefined } | undefined;
}
