import type { PutRecordsClient, PutRecordsInput, PutRecordsOutput } from '../../../lib/core';

/** A stream that accepts every record, and responds after one round trip. */
export function stubKinesis(
  roundTripMs: number,
  onArrival: (input: PutRecordsInput) => void = () => {},
): PutRecordsClient {
  let sequenceNumber = 0;
  return {
    putRecords: async (input): Promise<PutRecordsOutput> => {
      onArrival(input);
      if (roundTripMs > 0) await new Promise((resolve) => setTimeout(resolve, roundTripMs));
      return {
        FailedRecordCount: 0,
        Records: input.Records.map(() => ({
          ShardId: 'shardId-000000000000',
          SequenceNumber: String(++sequenceNumber),
        })),
      };
    },
  };
}
