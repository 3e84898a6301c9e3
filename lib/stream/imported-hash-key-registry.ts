import { Resource } from 'aws-cdk-lib';
import { TableV2 } from 'aws-cdk-lib/aws-dynamodb';
import type * as kinesis from 'aws-cdk-lib/aws-kinesis';
import type * as kms from 'aws-cdk-lib/aws-kms';
import { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';
import type { HashKeyRegistryAttributes } from './hash-key-registry-attributes';
import { HashKeyRegistryGrants } from './hash-key-registry-grants';
import type { IHashKeyRegistry } from './i-hash-key-registry';

/** A registry that another app has. It adds nothing to the template. */
export class ImportedHashKeyRegistry extends Resource implements IHashKeyRegistry {
  public readonly functionArn: string;
  public readonly functionName: string;
  public readonly tableArn: string;
  public readonly tableName: string;
  public readonly encryptionKey?: kms.IKey;
  public readonly stream: kinesis.IStreamRef;
  public readonly grants: HashKeyRegistryGrants;

  constructor(scope: Construct, id: string, attributes: HashKeyRegistryAttributes) {
    const { functionArn, tableArn, encryptionKey, stream } = attributes;
    super(scope, id, { environmentFromArn: functionArn });
    this.functionArn = functionArn;
    this.functionName = LambdaFunction.fromFunctionArn(this, 'Function', functionArn).functionName;
    this.tableArn = tableArn;
    this.tableName = TableV2.fromTableArn(this, 'Table', tableArn).tableName;
    this.encryptionKey = encryptionKey;
    this.stream = stream;
    this.grants = HashKeyRegistryGrants.fromRegistry(this);
  }
}
