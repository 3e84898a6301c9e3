import { Annotations, Stack } from 'aws-cdk-lib';
import * as iam from 'aws-cdk-lib/aws-iam';
import * as kinesis from 'aws-cdk-lib/aws-kinesis';

/**
 * Allows actions on exactly this stream: to a principal of another account by the policy of the stream as well, which a
 * `kinesis.IStream` has and a resource of CloudFormation has not.
 */
export function grantOnStream(stream: kinesis.IStreamRef, grantee: iam.IGrantable, actions: string[]): iam.Grant {
  if (isL2(stream)) return stream.grant(grantee, ...actions);
  return iam.Grant.addToPrincipal({ grantee, actions, resourceArns: [stream.streamRef.streamArn] });
}

/**
 * Allows actions on the customer-managed key of a stream, if it has one. Of a `CfnStream` CDK knows its key by what is
 * registered in `iam.EncryptedResources`; without, synthesis warns.
 */
export function grantOnStreamKey(
  stream: kinesis.IStreamRef,
  grantee: iam.IGrantable,
  actions: string[],
): iam.Grant | undefined {
  if (isL2(stream)) return stream.encryptionKey?.grant(grantee, ...actions);
  const encrypted = iam.EncryptedResources.of(stream);
  if (encrypted !== undefined) return encrypted.grantOnKey(grantee, ...actions).grant;
  const keyId = stream instanceof kinesis.CfnStream ? keyIdOf(stream) : undefined;
  if (keyId === undefined || keyId === KEY_OF_AWS) return undefined;
  Annotations.of(stream).addWarningV2(
    'cdk-even-shards:StreamProduceGrants.keyWithoutGrant',
    `${actions.join(' and ')} could not be allowed on the key of the stream to ${grantee.grantPrincipal}: allow it on the ` +
      'key, or give the stream as a kinesis.Stream with its encryptionKey',
  );
  return undefined;
}

/** The key that AWS manages, which needs no permission. */
const KEY_OF_AWS = 'alias/aws/kinesis';

function keyIdOf(stream: kinesis.CfnStream): unknown {
  return Stack.of(stream).resolve(stream.streamEncryption)?.keyId;
}

function isL2(stream: kinesis.IStreamRef): stream is kinesis.IStream {
  return 'grantReadWrite' in stream;
}
