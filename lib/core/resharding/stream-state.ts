import { IncompleteAnswerError } from '../kernel/incomplete-answer-error';
import type { ReshardClient, StreamSummary } from './reshard-client';
import { StreamNotReshardableError } from './reshard-errors';

interface StreamState {
  /** Whether Kinesis accepts a split, a merge or an update of the shard count now. */
  readonly active: boolean;
  readonly openShardCount: number;
}

/** @throws StreamNotReshardableError if the stream is in on-demand mode or is being deleted */
export async function describeStream(
  client: Pick<ReshardClient, 'describeStreamSummary'>,
  streamName: string,
): Promise<StreamState> {
  const response = await client.describeStreamSummary({ StreamName: streamName });
  const { StreamStatus, StreamModeDetails, OpenShardCount }: StreamSummary = Object(response?.StreamDescriptionSummary);
  if (StreamModeDetails?.StreamMode === 'ON_DEMAND') {
    throw new StreamNotReshardableError(
      streamName,
      'it is in on-demand mode, in which Kinesis chooses the shards and may ignore partition keys and explicit hash ' +
        'keys (record distribution AUTO); switch the stream to provisioned mode, or leave its shards to Kinesis',
    );
  }
  if (StreamStatus === 'DELETING') throw new StreamNotReshardableError(streamName, 'it is being deleted');
  if (typeof StreamStatus !== 'string' || !Number.isSafeInteger(OpenShardCount)) {
    throw new IncompleteAnswerError('DescribeStreamSummary', 'the status and the open shard count of the stream');
  }
  return { active: StreamStatus === 'ACTIVE', openShardCount: OpenShardCount! };
}
