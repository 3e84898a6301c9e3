import { Stack } from 'aws-cdk-lib';
import * as kinesis from 'aws-cdk-lib/aws-kinesis';

/** What a template may say of a stream, as far as checks need it. */
export interface StreamProperties {
  readonly MaxRecordSizeInKiB?: unknown;
  readonly RecordDistributionStrategy?: unknown;
  readonly StreamModeDetails?: { readonly StreamMode?: unknown };
}

/**
 * What the template says of the stream; nothing, if it is imported.
 *
 * Rendered rather than read: the floor of aws-cdk-lib knows some properties as an override only.
 */
export function streamProperties(stream: kinesis.IStreamRef): StreamProperties {
  const resource = resourceOf(stream);
  if (resource === undefined) return {};
  const { Resources } = Stack.of(resource).resolve(resource._toCloudFormation());
  return Object.values<{ Properties?: StreamProperties }>(Resources)[0]?.Properties ?? {};
}

/** What CloudFormation makes of a stream; nothing, if it is imported. */
export function resourceOf(stream: kinesis.IStreamRef): kinesis.CfnStream | undefined {
  return [stream, stream.node.defaultChild].find((each) => each instanceof kinesis.CfnStream);
}
