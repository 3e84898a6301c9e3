import type { ResourceEnvironment } from 'aws-cdk-lib';
import type * as ec2 from 'aws-cdk-lib/aws-ec2';
import type * as iam from 'aws-cdk-lib/aws-iam';
import type * as lambda from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import type { IBundledFunction } from './i-bundled-function';

/**
 * What a construct around a function is to others: the function that it has.
 *
 * @internal
 */
export abstract class BundledFunctionBase extends Construct implements IBundledFunction {
  /** The function: to invoke it or to grant its invocation. */
  public abstract readonly function: lambda.IFunction;

  /** The ARN of the function. */
  public get functionArn(): string {
    return this.function.functionArn;
  }

  /** The name of the function: to invoke it. */
  public get functionName(): string {
    return this.function.functionName;
  }

  /** The function, as what CDK generates from CloudFormation refers to it. */
  public get functionRef(): lambda.FunctionReference {
    return this.function.functionRef;
  }

  /** The account and the region of the function. */
  public get env(): ResourceEnvironment {
    return this.function.env;
  }

  /** Who the function is to whatever grants it something. */
  public get grantPrincipal(): iam.IPrincipal {
    return this.function.grantPrincipal;
  }

  /** The network connections of the function, if it runs in a VPC. */
  public get connections(): ec2.Connections {
    return this.function.connections;
  }

  /**
   * Allows to invoke the function, by any of its versions.
   *
   * @param grantee the role, function or other principal that invokes
   */
  public grantInvoke(grantee: iam.IGrantable): iam.Grant {
    return this.function.grantInvoke(grantee);
  }
}
