import type * as kinesis from 'aws-cdk-lib/aws-kinesis';
import { InvalidArgumentError } from '../core/foundation/errors';
import { streamProperties } from './stream-properties';

/**
 * Throws an error with the code `INVALID_ARGUMENT` if the template says that Kinesis distributes the stream's records
 * itself.
 *
 * An imported stream has no template to look at and passes. Kinesis then takes what the function sends and ignores its keys
 * (of a PutRecord it refuses `SequenceNumberForOrdering` alone); the producer looks at the stream, and stops.
 *
 * @see https://docs.aws.amazon.com/streams/latest/dev/service-managed-record-distribution.html
 */
export function checkRecordDistribution(field: string, stream: kinesis.IStreamRef): void {
  const { RecordDistributionStrategy: strategy } = streamProperties(stream);
  if (strategy !== 'AUTO') return;
  throw new InvalidArgumentError(
    `${field}.recordDistributionStrategy`,
    strategy,
    'USER_PARTITION_KEY, for with AUTO Kinesis ignores partition keys and explicit hash keys and keeps no order',
  );
}
