import type { IResource } from 'aws-cdk-lib';
import type * as kinesis from 'aws-cdk-lib/aws-kinesis';
import type { HashKeyRegistryGrants } from './hash-key-registry-grants';
import type { IHashKeyRegistryRef } from './i-hash-key-registry-ref';

/**
 * A registry of hash keys, of this app or imported by `HashKeyRegistry.fromHashKeyRegistryAttributes`.
 *
 * Give it to an `OrderedProducerFunction`, and name the owner in a record as its `hashKeyOwner`, or invoke its function.
 */
export interface IHashKeyRegistry extends IResource, IHashKeyRegistryRef {
  /** The name of the function that answers requests: to invoke it. */
  readonly functionName: string;

  /** The name of the table that has the owners: for `readOwners` of `cdk-even-shards/core`. */
  readonly tableName: string;

  /** The stream that the keys are for. */
  readonly stream: kinesis.IStreamRef;

  /** Permissions for whatever asks for keys. */
  readonly grants: HashKeyRegistryGrants;
}
