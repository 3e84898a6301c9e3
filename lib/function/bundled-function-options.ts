import type { Duration } from 'aws-cdk-lib';
import type * as ec2 from 'aws-cdk-lib/aws-ec2';
import type * as lambda from 'aws-cdk-lib/aws-lambda';
import type { BaseBundledFunctionOptions } from './base-bundled-function-options';

/** What a function that ships inside this library can be given. The names are those of `lambda.FunctionOptions`. */
export interface BundledFunctionOptions extends BaseBundledFunctionOptions {
  /**
   * The network to run in. What the function talks to must be reachable from there, by a NAT gateway or by endpoints.
   *
   * @default - none of yours
   */
  readonly vpc?: ec2.IVpc;

  /**
   * The subnets of the network to run in.
   *
   * @default - private subnets
   */
  readonly vpcSubnets?: ec2.SubnetSelection;

  /**
   * Security groups of the function in the network.
   *
   * @default - one of its own
   */
  readonly securityGroups?: ec2.ISecurityGroup[];

  /**
   * Whether a security group that is made for the function lets it connect to anything.
   *
   * @default true
   */
  readonly allowAllOutbound?: boolean;

  /**
   * How many invocations may run at the same time, reserved for this function.
   *
   * @default - as many as the account has left
   */
  readonly reservedConcurrentExecutions?: number;

  /**
   * Where an event goes that was sent asynchronously and failed as often as it may.
   *
   * @default - nowhere
   */
  readonly onFailure?: lambda.IDestination;

  /**
   * How long an asynchronous event may wait for its turn or its retry: 1 minute to 6 hours, known at synthesis.
   *
   * @default - Lambda's: 6 hours
   */
  readonly maxEventAge?: Duration;

  /**
   * How often an asynchronous event that failed is tried again: 0 to 2, known at synthesis.
   *
   * @default - Lambda's: 2
   */
  readonly retryAttempts?: number;
}
