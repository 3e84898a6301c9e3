import * as lambda from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';
import { BundledFunctionBase } from './bundled-function-base';

/** A function of this library that another app has. It adds nothing to the template. */
export class ImportedFunction extends BundledFunctionBase {
  public readonly function: lambda.IFunction;

  constructor(scope: Construct, id: string, attributes: lambda.FunctionAttributes) {
    super(scope, id);
    this.function = lambda.Function.fromFunctionAttributes(this, 'Function', attributes);
  }
}
