import { Reference, type Size, Tokenization } from 'aws-cdk-lib';
import * as kinesis from 'aws-cdk-lib/aws-kinesis';
import { templateProperties } from '../construct/template-properties';

/** The template properties of a stream that the checks read. */
interface StreamProperties {
  readonly MaxRecordSizeInKiB?: unknown;
  readonly RecordDistributionStrategy?: unknown;
  readonly StreamModeDetails?: { readonly StreamMode?: unknown };
}

/** The properties of a stream in the template. Empty for an imported stream. */
export function streamProperties(stream: kinesis.IStreamRef): StreamProperties {
  const resource = resourceOf(stream);
  return resource === undefined ? {} : templateProperties(resource);
}

/**
 * The resource of a stream of this app, even if the stream is imported by a reference to its ARN. Undefined for a
 * stream of another app.
 */
export function resourceOf(stream: kinesis.IStreamRef): kinesis.CfnStream | undefined {
  const own = [stream, stream.node.defaultChild].find((each) => each instanceof kinesis.CfnStream);
  return own ?? streamOfApp(stream.streamRef.streamArn);
}

/**
 * The stream of this app to which an ARN refers. For the ARN of a consumer with enhanced fan-out, the stream of that
 * consumer.
 */
export function streamOfApp(arn: string): kinesis.CfnStream | undefined {
  const { length, firstToken } = Tokenization.reverseString(arn);
  const target = length === 1 && Reference.isReference(firstToken) ? firstToken.target : undefined;
  if (target instanceof kinesis.CfnStreamConsumer) return streamOfApp(target.streamArn);
  return target instanceof kinesis.CfnStream ? target : undefined;
}

/** The settings that must be the same for all producers of a stream. Absent if unknown. */
interface SharedProducerSettings {
  readonly hashBuckets?: number;
  readonly maxRecordSize?: Size;
}

/** Marks each `IUniformStream`. `Symbol.for` returns the same symbol in every copy of this library. */
export const UNIFORM_STREAM = Symbol.for('cdk-even-shards.UniformStream');

/** The producer settings of an `IUniformStream`. Empty for another stream. */
export function sharedProducerSettings(stream: kinesis.IStreamRef): SharedProducerSettings {
  return UNIFORM_STREAM in stream ? (stream as SharedProducerSettings) : {};
}
