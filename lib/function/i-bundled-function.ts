import type * as ec2 from 'aws-cdk-lib/aws-ec2';
import type * as iam from 'aws-cdk-lib/aws-iam';
import type * as lambda from 'aws-cdk-lib/aws-lambda';

/**
 * A function that ships inside this library, of this app or imported: to invoke it, to watch it, and to grant it what it
 * needs.
 *
 * An integration of CDK takes a `lambda.IFunction`: give it the `function` of a construct of this app, and of an imported
 * one `lambda.Function.fromFunctionArn(this, 'Function', imported.functionArn)`.
 */
export interface IBundledFunction extends lambda.IFunctionRef, iam.IGrantable, ec2.IConnectable {
  /** The ARN of the function. */
  readonly functionArn: string;

  /** The name of the function: to invoke it. */
  readonly functionName: string;

  /**
   * Allows to invoke the function, by any of its versions.
   *
   * @param grantee the role, function or other principal that invokes
   */
  grantInvoke(grantee: iam.IGrantable): iam.Grant;
}
