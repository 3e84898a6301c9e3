import { type CfnElement, Duration, type IResource, Resource, Stack } from 'aws-cdk-lib';
import type * as ec2 from 'aws-cdk-lib/aws-ec2';
import * as iam from 'aws-cdk-lib/aws-iam';
import type * as lambda from 'aws-cdk-lib/aws-lambda';
import { Provider } from 'aws-cdk-lib/custom-resources';
import type { Construct, IConstruct } from 'constructs';
import { acknowledgeFindings } from '../../construct/acknowledge-findings';
import { withoutUndefined } from '../../construct/blueprint';
import { grantOnKey } from '../../construct/grant-on-key';
import { checkedArn, newConstructField } from '../../construct/props';
import {
  addBundledFunction,
  addLogGroup,
  type BundledFunctionOptions,
  networkInterfaces,
} from '../../function/bundled-function';

const ID = 'EvenShardsReshardProvider';

/**
 * A provider for `StreamResharding`, defined in this app or imported by
 * `StreamReshardingProvider.fromStreamReshardingProviderAttributes`.
 */
export interface IStreamReshardingProvider extends IResource {
  /** The service token of the provider, for a custom resource. */
  readonly serviceToken: string;

  /** The role of the function that reshards. Each `StreamResharding` adds permissions on its stream to this role. */
  readonly role: iam.IRole;
}

/** The attributes of an existing provider, for `StreamReshardingProvider.fromStreamReshardingProviderAttributes`. */
export interface StreamReshardingProviderAttributes {
  /** The service token of the provider: `serviceToken` in the app that defines the provider. */
  readonly serviceToken: string;

  /** The role of the function that reshards: `role` in the app that defines the provider. */
  readonly role: iam.IRole;
}

/** Properties of a `StreamReshardingProvider`. */
export interface StreamReshardingProviderProps extends BundledFunctionOptions {
  /**
   * The timeout of an invocation, at most 15 minutes.
   *
   * @default - 2 minutes
   */
  readonly timeout?: Duration;

  /**
   * The memory of the function in MiB, from 128 to 10,240. Lambda assigns processor time in proportion to memory.
   *
   * @default 256
   */
  readonly memorySize?: number;
}

/**
 * The provider of the custom resources that reshard streams. CDK's provider framework invokes a function of this library until
 * the function reports that the resharding is complete.
 *
 * Create a provider to choose the settings of the functions, and pass it to each `StreamResharding` as its `provider`, or to a
 * `UniformStream` as its `reshardingProvider`. The functions of the framework use the same network, log level and encryption
 * key as the function of this library, and share their own log group. All other settings apply only to the function of this
 * library.
 *
 * @exampleMetadata fixture=app
 * @example const reshardingProvider = new StreamReshardingProvider(stack, 'Provider', { timeout: Duration.minutes(5) }); new
 *   UniformStream(stack, 'Events', { shardCount: 32, deployedShardCount: 4, reshardingProvider });
 */
export class StreamReshardingProvider extends Resource implements IStreamReshardingProvider, ec2.IConnectable {
  /**
   * Imports an existing provider of another app in the same account and region. An organization can use one provider
   * for all its streams. Each `StreamResharding` adds permissions on its stream to the role of the provider, if the
   * role is mutable.
   *
   * @param scope the construct to add the provider to, usually `this`
   * @param id the name of the provider within the scope
   * @param attributes the service token and the role of the provider
   */
  public static fromStreamReshardingProviderAttributes(
    scope: Construct,
    id: string,
    attributes: StreamReshardingProviderAttributes,
  ): IStreamReshardingProvider {
    return new ImportedStreamReshardingProvider(scope, id, attributes);
  }

  /**
   * The shared provider of the stack, with default settings.
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

  /** The service token of the provider, for a custom resource. */
  public readonly serviceToken: string;

  /** The role of the function of this library. Each `StreamResharding` adds permissions on its stream to this role. */
  public readonly role: iam.IRole;

  /**
   * Creates four functions and a state machine, with their own roles and log groups.
   *
   * @param scope the construct to add the provider to, usually a stack
   * @param id the name of the provider within the scope
   * @param props the settings of the functions
   */
  constructor(scope: Construct, id: string, props: StreamReshardingProviderProps = {}) {
    super(scope, id);
    this.function = addBundledFunction(
      this,
      {
        bundle: 'stream-resharder',
        description: 'Reshards Kinesis streams to the shard counts that their stacks declare',
        environment: {},
        timeout: Duration.minutes(2),
        minTimeout: { min: Duration.seconds(1) },
        memorySize: 256,
      },
      props,
    );
    this.role = this.function.role!;
    const logGroup = addLogGroup(this, 'FrameworkLogGroup');
    const [frameworkOnEventRole, frameworkCompleteAndTimeoutRole] = ['OnEventRole', 'CompleteRole'].map((id) => {
      const role = new iam.Role(this, id, { assumedBy: new iam.ServicePrincipal('lambda.amazonaws.com') });
      logGroup.grantWrite(role);
      const key = props.environmentEncryption;
      if (key) grantOnKey(key, role, ['kms:Decrypt'], 'StreamReshardingProvider');
      if (props.vpc !== undefined) role.addToPrincipalPolicy(networkInterfaces());
      return role;
    });
    const provider = new Provider(
      this,
      'Provider',
      withoutUndefined({
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

  /** The network connections of the functions, if they run in a VPC. */
  public get connections(): ec2.Connections {
    return this.function.connections;
  }
}

/** A provider of another app. The import adds nothing to the template. */
class ImportedStreamReshardingProvider extends Resource implements IStreamReshardingProvider {
  public readonly serviceToken: string;
  public readonly role: iam.IRole;

  constructor(scope: Construct, id: string, { serviceToken, role }: StreamReshardingProviderAttributes) {
    super(scope, id, {
      environmentFromArn: checkedArn(newConstructField(scope, id, 'serviceToken'), serviceToken, 'lambda'),
    });
    this.serviceToken = serviceToken;
    this.role = role;
  }
}

/** Acknowledges the cdk-nag findings on resources of the framework that the framework does not let us configure. */
function acknowledgeFramework(scope: StreamReshardingProvider, provider: Provider): void {
  const stack = Stack.of(scope);
  const invoked = [scope.function, ...['isComplete', 'onTimeout'].map((name) => frameworkFunction(provider, name))];
  acknowledgeFindings(
    scope,
    ...invoked.map((invokedFunction) => ({
      id: `AwsSolutions-IAM5[Resource::<${stack.getLogicalId(invokedFunction.node.defaultChild as CfnElement)}.Arn>:*]`,
      reason: 'the CDK provider framework invokes any version of its functions and of ours',
    })),
    {
      id: 'AwsSolutions-L1',
      reason: 'the CDK provider framework uses the newest runtime that is available in every region',
    },
    {
      id: 'AwsSolutions-SF1',
      reason:
        "the input of the provider framework's state machine contains the response URL of CloudFormation, which must not be " +
        'logged; the called function logs each call of the state machine',
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
