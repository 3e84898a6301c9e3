import { type CfnElement, Duration, type IResource, Resource, Stack, Validations } from 'aws-cdk-lib';
import type * as ec2 from 'aws-cdk-lib/aws-ec2';
import * as iam from 'aws-cdk-lib/aws-iam';
import type * as lambda from 'aws-cdk-lib/aws-lambda';
import { Provider } from 'aws-cdk-lib/custom-resources';
import type { Construct, IConstruct } from 'constructs';
import { given } from '../../construct/blueprint';
import {
  addBundledFunction,
  addLogGroup,
  type BundledFunctionOptions,
  networkInterfaces,
} from '../../function/bundled-function';

const ID = 'EvenShardsReshardProvider';

/** A provider of resharding, of this app or imported by `StreamReshardingProvider.fromStreamReshardingProviderAttributes`. */
export interface IStreamReshardingProvider extends IResource {
  /** What a custom resource names to be answered by this provider. */
  readonly serviceToken: string;

  /** The role of the function that reshards. Each stream is allowed to it. */
  readonly role: iam.IRole;
}

/** A provider that exists, as `StreamReshardingProvider.fromStreamReshardingProviderAttributes` takes it. */
export interface StreamReshardingProviderAttributes {
  /** What a custom resource names to be answered by it: `serviceToken` in the app that has the provider. */
  readonly serviceToken: string;

  /** The role of the function that reshards: `role` in the app that has the provider. */
  readonly role: iam.IRole;
}

/** Properties of a `StreamReshardingProvider`. */
export interface StreamReshardingProviderProps extends BundledFunctionOptions {
  /**
   * How long one invocation may take, at most 15 minutes.
   *
   * @default - 2 minutes
   */
  readonly timeout?: Duration;

  /**
   * Memory in MiB, and CPU in proportion to it.
   *
   * @default 256
   */
  readonly memorySize?: number;
}

/**
 * What answers CloudFormation for streams that are taken to a shard count: a function of this library, and the provider
 * framework of CDK, which calls it until it says that it is complete.
 *
 * Make one to choose how its functions run, and give it to each `StreamResharding`, or to a `UniformStream` as its
 * `reshardingProvider`. The functions of the framework run in the same network, log to a log group of their own, and are
 * given the same log level and key; the other settings are those of the function of this library.
 *
 * @exampleMetadata fixture=app
 * @example
 * const reshardingProvider = new StreamReshardingProvider(stack, 'Provider', { timeout: Duration.minutes(5) });
 * new UniformStream(stack, 'Events', { shardCount: 32, deployedShardCount: 4, reshardingProvider });
 */
export class StreamReshardingProvider extends Resource implements IStreamReshardingProvider, ec2.IConnectable {
  /**
   * Imports a provider that exists, of another app of the same account and region, which an organization keeps once for all its streams.
   * What it needs on a stream is allowed to its role, if that may be changed.
   *
   * @param scope the construct to add the provider to, usually `this`
   * @param id its name within the scope
   * @param attributes what names it, and its role
   */
  public static fromStreamReshardingProviderAttributes(
    scope: Construct,
    id: string,
    attributes: StreamReshardingProviderAttributes,
  ): IStreamReshardingProvider {
    return new ImportedStreamReshardingProvider(scope, id, attributes);
  }

  /**
   * The one of the stack, with default settings.
   *
   * @internal
   */
  public static _of(scope: IConstruct): StreamReshardingProvider {
    const stack = Stack.of(scope);
    return (
      (stack.node.tryFindChild(ID) as StreamReshardingProvider | undefined) ?? new StreamReshardingProvider(stack, ID)
    );
  }

  /** The function of this library. */
  public readonly function: lambda.Function;

  /** What a custom resource names to be answered by this provider. */
  public readonly serviceToken: string;

  /** The role of the function of this library. Each stream is allowed to it. */
  public readonly role: iam.IRole;

  /**
   * Four functions and a state machine, with roles and log groups of their own.
   *
   * @param scope the construct to add it to, usually a stack
   * @param id its name within the scope
   * @param props how its functions run
   */
  constructor(scope: Construct, id: string, props: StreamReshardingProviderProps = {}) {
    super(scope, id);
    this.function = addBundledFunction(
      this,
      {
        bundle: 'stream-resharder',
        description: 'Takes Kinesis streams to the shard counts that their stack declares',
        environment: {},
        timeout: Duration.minutes(2),
        memorySize: 256,
      },
      props,
    );
    this.role = this.function.role!;
    const logGroup = addLogGroup(this, 'FrameworkLogGroup');
    const [frameworkOnEventRole, frameworkCompleteAndTimeoutRole] = ['OnEventRole', 'CompleteRole'].map((id) => {
      const role = new iam.Role(this, id, { assumedBy: new iam.ServicePrincipal('lambda.amazonaws.com') });
      logGroup.grantWrite(role);
      props.environmentEncryption?.grant(role, 'kms:Decrypt');
      if (props.vpc !== undefined) role.addToPrincipalPolicy(networkInterfaces());
      return role;
    });
    const provider = new Provider(
      this,
      'Provider',
      given({
        onEventHandler: this.function,
        isCompleteHandler: this.function,
        queryInterval: Duration.seconds(10),
        totalTimeout: Duration.hours(1),
        logGroup,
        frameworkOnEventRole,
        frameworkCompleteAndTimeoutRole,
        vpc: props.vpc,
        vpcSubnets: props.vpcSubnets,
        securityGroups: props.vpc && this.function.connections.securityGroups,
        providerFunctionEnvEncryption: props.environmentEncryption,
        frameworkLambdaLoggingLevel: props.applicationLogLevelV2,
      }),
    );
    this.serviceToken = provider.serviceToken;
    acknowledgeFramework(this, provider);
  }

  /** The network connections of its functions, if they run in a VPC. */
  public get connections(): ec2.Connections {
    return this.function.connections;
  }
}

/** A provider that another app has. It adds nothing to the template. */
class ImportedStreamReshardingProvider extends Resource implements IStreamReshardingProvider {
  public readonly serviceToken: string;
  public readonly role: iam.IRole;

  constructor(scope: Construct, id: string, { serviceToken, role }: StreamReshardingProviderAttributes) {
    super(scope, id, { environmentFromArn: serviceToken });
    this.serviceToken = serviceToken;
    this.role = role;
  }
}

/** What cdk-nag would find in the framework's own resources, and nobody can configure. */
function acknowledgeFramework(scope: StreamReshardingProvider, provider: Provider): void {
  const stack = Stack.of(scope);
  const invoked = [scope.function, ...['isComplete', 'onTimeout'].map((name) => frameworkFunction(provider, name))];
  Validations.of(scope).acknowledge(
    ...invoked.map((invokedFunction) => ({
      id: `AwsSolutions-IAM5[Resource::<${stack.getLogicalId(invokedFunction.node.defaultChild as CfnElement)}.Arn>:*]`,
      reason: 'the CDK provider framework invokes its functions and ours by any version of them',
    })),
    {
      id: 'AwsSolutions-L1',
      reason: 'the CDK provider framework chooses the newest runtime that every region has',
    },
    {
      id: 'AwsSolutions-SF1',
      reason:
        "the input of the provider framework's state machine holds the URL that answers CloudFormation, which belongs in " +
        'no log; each call that it makes is logged by the function it calls',
    },
    {
      id: 'AwsSolutions-SF2',
      reason: 'the CDK provider framework has no tracing for its state machine, which calls one function in a loop',
    },
  );
}

function frameworkFunction(provider: Provider, name: string): IConstruct {
  return provider.node.findChild(`framework-${name}`);
}
