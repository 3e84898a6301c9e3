import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Duration, RemovalPolicy } from 'aws-cdk-lib';
import * as iam from 'aws-cdk-lib/aws-iam';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import * as logs from 'aws-cdk-lib/aws-logs';
import type { IConstruct } from 'constructs';
import type { BundledFunctionOptions } from './bundled-function-options';
import { MissingBundleError } from './missing-bundle-error';

interface BundledFunctionProps
  extends BundledFunctionOptions,
    Pick<lambda.FunctionOptions, 'vpc' | 'vpcSubnets' | 'securityGroups' | 'reservedConcurrentExecutions'> {
  /** The folder of the bundle below `dist/lambda`. */
  readonly bundle: string;
  readonly description: string;
  readonly environment: Record<string, string>;
  readonly timeout: Duration;
  readonly memorySize: number;
}

/**
 * Adds a function that was bundled when this library was built, with a role that can write to its own log group and
 * nothing else. What the function works on is granted by the construct that owns it.
 */
export function addBundledFunction(scope: IConstruct, props: BundledFunctionProps): lambda.Function {
  const logGroup = new logs.LogGroup(scope, 'LogGroup', {
    retention: props.logRetention ?? logs.RetentionDays.ONE_MONTH,
    removalPolicy: RemovalPolicy.DESTROY,
  });
  const role = new iam.Role(scope, 'Role', {
    assumedBy: new iam.ServicePrincipal('lambda.amazonaws.com'),
  });
  logGroup.grantWrite(role);
  if (props.vpc !== undefined) role.addToPrincipalPolicy(networkInterfaces());
  return new lambda.Function(scope, 'Function', {
    description: props.description,
    code: lambda.Code.fromAsset(bundlePath(scope, props.bundle)),
    handler: 'index.handler',
    runtime: props.runtime ?? lambda.Runtime.NODEJS_24_X,
    architecture: lambda.Architecture.ARM_64,
    role,
    logGroup,
    loggingFormat: lambda.LoggingFormat.JSON,
    environment: props.environment,
    timeout: props.timeout,
    memorySize: props.memorySize,
    vpc: props.vpc,
    vpcSubnets: props.vpcSubnets,
    securityGroups: props.securityGroups,
    reservedConcurrentExecutions: props.reservedConcurrentExecutions,
  });
}

/**
 * What Lambda needs to connect a function to a VPC, as the managed policy `AWSLambdaVPCAccessExecutionRole` has it, without
 * its permission to log. Source: the Lambda developer guide, giving functions access to resources in a VPC.
 */
function networkInterfaces(): iam.PolicyStatement {
  return new iam.PolicyStatement({
    actions: [
      'ec2:CreateNetworkInterface',
      'ec2:DescribeNetworkInterfaces',
      'ec2:DescribeSubnets',
      'ec2:DeleteNetworkInterface',
      'ec2:AssignPrivateIpAddresses',
      'ec2:UnassignPrivateIpAddresses',
    ],
    resources: ['*'],
  });
}

function bundlePath(scope: IConstruct, bundle: string): string {
  const path = join(packageRoot(), 'dist', 'lambda', bundle);
  if (!existsSync(join(path, 'index.js'))) throw new MissingBundleError(scope.node.path, bundle);
  return path;
}

/** The same folder whether this file runs as source from `lib` or compiled from `dist/lib`. */
function packageRoot(): string {
  return dirname(require.resolve('cdk-even-shards/package.json'));
}
