import { Reference, type Size, Tokenization } from 'aws-cdk-lib';
import * as kinesis from 'aws-cdk-lib/aws-kinesis';
import { templateProperties } from '../construct/template-properties';

/** What a template may say of a stream, as far as checks need it. */
interface StreamProperties {
  readonly MaxRecordSizeInKiB?: unknown;
  readonly RecordDistributionStrategy?: unknown;
  readonly StreamModeDetails?: { readonly StreamMode?: unknown };
}

/** What the template says of the stream; nothing, if it is imported. */
export function streamProperties(stream: kinesis.IStreamRef): StreamProperties {
  const resource = resourceOf(stream);
  return resource === undefined ? {} : templateProperties(resource);
}

/** The resource of a stream of this app, also if the stream is imported by a reference to its ARN. Undefined for another stream. */
export function resourceOf(stream: kinesis.IStreamRef): kinesis.CfnStream | undefined {
  const own = [stream, stream.node.defaultChild].find((each) => each instanceof kinesis.CfnStream);
  return own ?? streamOfApp(stream.streamRef.streamArn);
}

/** The stream of this app with this ARN. A consumer with enhanced fan-out belongs to its stream. */
export function streamOfApp(arn: string): kinesis.CfnStream | undefined {
  const { length, firstToken } = Tokenization.reverseString(arn);
  const target = length === 1 && Reference.isReference(firstToken) ? firstToken.target : undefined;
  if (target instanceof kinesis.CfnStreamConsumer) return streamOfApp(target.streamArn);
  return target instanceof kinesis.CfnStream ? target : undefined;
}

/** What all producers of a stream must agree on, as far as it is known. */
interface AgreedByProducers {
  readonly hashBuckets?: number;
  readonly maxRecordSize?: Size;
}

/** On each `IUniformStream`, of whichever copy of this library. */
export const UNIFORM_STREAM = Symbol.for('cdk-even-shards.UniformStream');

/** What a uniform stream says of itself, of this app or imported; nothing of another stream. */
export function agreedByProducers(stream: kinesis.IStreamRef): AgreedByProducers {
  return UNIFORM_STREAM in stream ? (stream as AgreedByProducers) : {};
}
