import * as lambda from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';
import { FanOutQueryFunctionBase } from './fan-out-query-function-base';

/** A function that queries sharded indexes that another app has. It adds nothing to the template. */
export class ImportedFanOutQueryFunction extends FanOutQueryFunctionBase {
  public readonly function: lambda.IFunction;

  constructor(scope: Construct, id: string, attributes: lambda.FunctionAttributes) {
    super(scope, id);
    this.function = lambda.Function.fromFunctionAttributes(this, 'Function', attributes);
  }
}
