import * as lambda from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';
import { QueryFunctionBase } from '../function/query-function';

/** A function that queries sharded tables of Amazon Keyspaces that another app has. It adds nothing to the template. */
export class ImportedKeyspacesQueryFunction extends QueryFunctionBase {
  public readonly function: lambda.IFunction;

  constructor(scope: Construct, id: string, attributes: lambda.FunctionAttributes) {
    super(scope, id);
    this.function = lambda.Function.fromFunctionAttributes(this, 'Function', attributes);
  }
}
