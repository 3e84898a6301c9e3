import * as kinesis from 'aws-cdk-lib/aws-kinesis';
import { templateProperties } from '../construct/template-properties';

/** What a template may say of a stream, as far as checks need it. */
export interface StreamProperties {
  readonly MaxRecordSizeInKiB?: unknown;
  readonly RecordDistributionStrategy?: unknown;
  readonly StreamModeDetails?: { readonly StreamMode?: unknown };
}

/** What the template says of the stream; nothing, if it is imported. */
export function streamProperties(stream: kinesis.IStreamRef): StreamProperties {
  const resource = resourceOf(stream);
  return resource === undefined ? {} : templateProperties(resource);
}

/** What CloudFormation makes of a stream; nothing, if it is imported. */
export function resourceOf(stream: kinesis.IStreamRef): kinesis.CfnStream | undefined {
  return [stream, stream.node.defaultChild].find((each) => each instanceof kinesis.CfnStream);
}
