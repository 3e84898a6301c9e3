import type * as kinesis from 'aws-cdk-lib/aws-kinesis';
import { LARGEST_RECORD_OF_EVENT_KIB } from '../../core/contract/kinesis-event';
import { InvalidArgumentError } from '../../core/kernel/errors';
import { streamLimit } from '../stream-checks';

/**
 * Checks that every record of a stream fits into an event of a function. A stream whose limit is unknown passes.
 *
 * @param field names the stream in the error
 * @param remedy how to add an on-failure destination
 * @throws InvalidArgumentError with the code `INVALID_ARGUMENT`
 */
export function checkDeliverable(field: string, stream: kinesis.IStreamRef, remedy: string): void {
  const kibibytes = (streamLimit(stream) ?? 0) / 1024;
  if (kibibytes <= LARGEST_RECORD_OF_EVENT_KIB) return;
  throw new InvalidArgumentError(
    `${field}.maxRecordSize`,
    `${kibibytes} KiB`,
    `at most ${LARGEST_RECORD_OF_EVENT_KIB} KiB: an event of Lambda has at most 6 MiB, with the data in base64. A larger record never ` +
      'reaches the function, and holds its shard until it expires. Decrease maxRecordSize, or keep the data in S3 and put its object key ' +
      `into the record, or ${remedy}. A record that goes there leaves the order of its key`,
  );
}
