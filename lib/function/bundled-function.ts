import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Duration, RemovalPolicy, Stack, Token } from 'aws-cdk-lib';
import * as iam from 'aws-cdk-lib/aws-iam';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import * as logs from 'aws-cdk-lib/aws-logs';
import { RegionInfo } from 'aws-cdk-lib/region-info';
import type { Construct, IConstruct } from 'constructs';
import { withDefaults } from '../construct/blueprint';
import { constructField } from '../construct/construct-field';
import { refuseToken } from '../construct/refuse-token';
import type { BundledFunctionOptions } from './bundled-function-options';
import { MissingBundleError } from './missing-bundle-error';

/** What a construct says of its function. */
interface BundledFunction {
  /** The folder of the bundle below `dist/lambda`. */
  readonly bundle: string;
  readonly description: string;
  readonly environment: Record<string, string>;
  /** Unless the options have another. */
  readonly timeout: Duration;
  /** Unless the options have another. */
  readonly memorySize: number;
}

/**
 * Adds a function that was bundled when this library was built, with a role that can write to its own log group and
 * nothing else. What the function works on is granted by the construct that owns it.
 */
export function addBundledFunction(
  scope: Construct,
  { bundle, description, environment, timeout, memorySize }: BundledFunction,
  options: BundledFunctionOptions & Pick<lambda.FunctionOptions, 'timeout' | 'memorySize'>,
): lambda.Function {
  refuseToken(constructField(scope, 'maxEventAge'), options.maxEventAge, '1 minute to 6 hours');
  refuseToken(constructField(scope, 'retryAttempts'), options.retryAttempts, 'a whole number from 0 to 2');
  const logGroup = options.logGroup ?? addLogGroup(scope);
  const role =
    options.role ?? new iam.Role(scope, 'Role', { assumedBy: new iam.ServicePrincipal('lambda.amazonaws.com') });
  logGroup.grantWrite(role);
  options.environmentEncryption?.grant(role, 'kms:Decrypt');
  const added = new lambda.Function(
    scope,
    'Function',
    withDefaults<lambda.FunctionProps>(
      scope,
      lambda.Function.PROPERTY_INJECTION_ID,
      {
        description,
        code: lambda.Code.fromAsset(bundlePath(scope, bundle)),
        handler: 'index.handler',
        runtime: options.runtime ?? defaultRuntime(scope),
        architecture: options.architecture,
        role,
        logGroup,
        loggingFormat: lambda.LoggingFormat.JSON,
        environment,
        timeout: options.timeout,
        memorySize: options.memorySize,
        functionName: options.functionName,
        applicationLogLevelV2: options.applicationLogLevelV2,
        systemLogLevelV2: options.systemLogLevelV2,
        tracing: options.tracing,
        layers: options.layers,
        environmentEncryption: options.environmentEncryption,
        vpc: options.vpc,
        vpcSubnets: options.vpcSubnets,
        securityGroups: options.securityGroups,
        allowAllOutbound: options.allowAllOutbound,
        reservedConcurrentExecutions: options.reservedConcurrentExecutions,
        onFailure: options.onFailure,
        maxEventAge: options.maxEventAge,
        retryAttempts: options.retryAttempts,
      },
      () => ({ architecture: lambda.Architecture.ARM_64, timeout, memorySize }),
    ),
  );
  if (added.isBoundToVpc) role.addToPrincipalPolicy(networkInterfaces());
  return added;
}

/** A log group for a function of ours, and for it alone. */
export function addLogGroup(scope: Construct, id = 'LogGroup'): logs.LogGroup {
  const defaults = () => ({ retention: logs.RetentionDays.ONE_MONTH, removalPolicy: RemovalPolicy.DESTROY });
  return new logs.LogGroup(scope, id, withDefaults(scope, logs.LogGroup.PROPERTY_INJECTION_ID, {}, defaults));
}

/** Runtimes come to the regions of other partitions later, and CDK knows when. */
function defaultRuntime(scope: Construct): lambda.Runtime {
  const { region } = Stack.of(scope);
  const partition = Token.isUnresolved(region) ? 'aws' : (RegionInfo.get(region).partition ?? 'aws');
  return partition === 'aws' ? lambda.Runtime.NODEJS_24_X : lambda.determineLatestNodeRuntime(scope);
}

/**
 * What Lambda needs to connect a function to a VPC, as the managed policy `AWSLambdaVPCAccessExecutionRole` has it, without
 * its permission to log. Source: the Lambda developer guide, giving functions access to resources in a VPC.
 */
export function networkInterfaces(): iam.PolicyStatement {
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
