/** What resharding needs of Kinesis, shaped so that the SDK's `new Kinesis({})` fits. */
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

export interface StreamSummary {
  StreamStatus?: string | undefined;
  StreamModeDetails?: { StreamMode?: string | undefined } | undefined;
  OpenShardCount?: number | undefined;
}

export interface ListedShard {
  ShardId?: string | undefined;
  HashKeyRange?: { StartingHashKey?: string | undefined; EndingHashKey?: string | undefined } | undefined;
  SequenceNumberRange?: { EndingSequenceNumber?: string | undefined } | undefined;
}
