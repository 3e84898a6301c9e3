import type * as kinesis from 'aws-cdk-lib/aws-kinesis';
import { InvalidArgumentError } from '../core/foundation/errors';
import { streamProperties } from './stream-properties';

/**
 * Throws an error with the code `INVALID_ARGUMENT` if the template says that the stream is in on-demand mode, in which
 * Kinesis chooses the shards. An imported stream passes; the functions look at it before they touch it.
 */
export function checkProvisioned(field: string, stream: kinesis.IStreamRef): void {
  const mode = streamProperties(stream).StreamModeDetails?.StreamMode;
  if (mode !== 'ON_DEMAND') return;
  throw new InvalidArgumentError(
    `${field}.streamMode`,
    mode,
    'PROVISIONED, for in on-demand mode Kinesis chooses the shards, and may be set to ignore partition keys and ' +
      'explicit hash keys (record distribution AUTO)',
  );
}
