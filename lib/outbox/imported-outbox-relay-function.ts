import * as lambda from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';
import { OutboxRelayFunctionBase } from './outbox-relay-function-base';

/** The relay of an outbox that another app has. It adds nothing to the template. */
export class ImportedOutboxRelayFunction extends OutboxRelayFunctionBase {
  public readonly function: lambda.IFunction;

  constructor(scope: Construct, id: string, attributes: lambda.FunctionAttributes) {
    super(scope, id);
    this.function = lambda.Function.fromFunctionAttributes(this, 'Function', attributes);
  }
}
