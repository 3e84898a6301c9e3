import { Resource, Token } from 'aws-cdk-lib';
import { TableV2 } from 'aws-cdk-lib/aws-dynamodb';
import type * as kinesis from 'aws-cdk-lib/aws-kinesis';
import type * as kms from 'aws-cdk-lib/aws-kms';
import { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';
import { constructField } from '../../construct/construct-field';
import { InvalidArgumentError } from '../../core/foundation/errors';
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
    checkUnqualified(constructField(this, 'functionArn'), functionArn);
    this.functionArn = functionArn;
    this.functionName = LambdaFunction.fromFunctionArn(this, 'Function', functionArn).functionName;
    this.tableArn = tableArn;
    this.tableName = TableV2.fromTableArn(this, 'Table', tableArn).tableName;
    this.encryptionKey = encryptionKey;
    this.stream = stream;
    this.grants = HashKeyRegistryGrants.fromRegistry(this);
  }
}

/** The parts of an ARN up to the name of a function; a version or an alias is one more. */
const FUNCTION_ARN_PARTS = 7;

/** Grants name an alias of the function for each kind of request; an ARN of two qualifiers is none. */
function checkUnqualified(field: string, functionArn: string): void {
  if (Token.isUnresolved(functionArn) || functionArn.split(':').length <= FUNCTION_ARN_PARTS) return;
  throw new InvalidArgumentError(field, functionArn, 'the ARN of the function, without a version or an alias');
}
