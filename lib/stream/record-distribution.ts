import { Stack } from 'aws-cdk-lib';
import * as kinesis from 'aws-cdk-lib/aws-kinesis';
import { InvalidArgumentError } from '../core/errors';

/**
 * Throws `InvalidArgumentError` if the template says that Kinesis distributes the stream's records itself.
 *
 * An imported stream has no template to look at and passes; Kinesis then refuses what the function sends.
 *
 * @see https://docs.aws.amazon.com/streams/latest/dev/service-managed-record-distribution.html
 */
export function checkRecordDistribution(field: string, stream: kinesis.IStream): void {
  const strategy = recordDistributionStrategy(stream);
  if (strategy !== 'AUTO') return;
  throw new InvalidArgumentError(
    `${field}.recordDistributionStrategy`,
    strategy,
    'USER_PARTITION_KEY, for with AUTO Kinesis ignores partition keys and explicit hash keys and keeps no order',
  );
}

/** Rendered rather than read: the floor of aws-cdk-lib knows the property as an override only. */
function recordDistributionStrategy(stream: kinesis.IStream): unknown {
  const resource = stream.node.defaultChild;
  if (!(resource instanceof kinesis.CfnStream)) return undefined;
  const { Resources } = Stack.of(resource).resolve(resource._toCloudFormation());
  return Object.values<{ Properties?: { RecordDistributionStrategy?: unknown } }>(Resources)[0]?.Properties
    ?.RecordDistributionStrategy;
}
