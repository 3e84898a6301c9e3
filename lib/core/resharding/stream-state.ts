import type { ReshardClient } from './reshard-client';
import { StreamNotReshardableError } from './reshard-errors';

export interface StreamState {
  /** Whether Kinesis accepts a split, a merge or an update of the shard count now. */
  readonly active: boolean;
  readonly openShardCount: number;
}

/** Throws `StreamNotReshardableError` if the stream is in on-demand mode or is being deleted. */
export async function describeStream(
  client: Pick<ReshardClient, 'describeStreamSummary'>,
  streamName: string,
): Promise<StreamState> {
  const { StreamDescriptionSummary } = await client.describeStreamSummary({ StreamName: streamName });
  const { StreamStatus, StreamModeDetails, OpenShardCount = 0 } = StreamDescriptionSummary ?? {};
  if (StreamModeDetails?.StreamMode === 'ON_DEMAND') {
    throw new StreamNotReshardableError(
      streamName,
      'it is in on-demand mode, in which Kinesis chooses the shards and may ignore partition keys and explicit hash ' +
        'keys (record distribution AUTO); switch the stream to provisioned mode, or leave its shards to Kinesis',
    );
  }
  if (StreamStatus === 'DELETING') throw new StreamNotReshardableError(streamName, 'it is being deleted');
  return { active: StreamStatus === 'ACTIVE', openShardCount: OpenShardCount };
}
