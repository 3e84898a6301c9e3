import * as lambda from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';
import { OrderedProducerFunctionBase } from './ordered-producer-function-base';

/** An ordered producer that another app has. It adds nothing to the template. */
export class ImportedOrderedProducerFunction extends OrderedProducerFunctionBase {
  public readonly function: lambda.IFunction;

  constructor(scope: Construct, id: string, attributes: lambda.FunctionAttributes) {
    super(scope, id);
    this.function = lambda.Function.fromFunctionAttributes(this, 'Function', attributes);
  }
}
