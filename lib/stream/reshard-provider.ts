import { type CfnElement, Duration, RemovalPolicy, Stack, Validations } from 'aws-cdk-lib';
import * as iam from 'aws-cdk-lib/aws-iam';
import type * as lambda from 'aws-cdk-lib/aws-lambda';
import * as logs from 'aws-cdk-lib/aws-logs';
import { Provider } from 'aws-cdk-lib/custom-resources';
import { Construct, type IConstruct } from 'constructs';
import { addBundledFunction } from '../function/bundled-function';

const ID = 'EvenShardsReshardProvider';

/**
 * What answers CloudFormation for all streams of a stack that are taken to a shard count: one function of ours, and the
 * CDK's provider framework, which calls it until it says that it is complete.
 */
export class ReshardProvider extends Construct {
  /** The one of the stack. */
  public static of(scope: IConstruct): ReshardProvider {
    const stack = Stack.of(scope);
    return (stack.node.tryFindChild(ID) as ReshardProvider | undefined) ?? new ReshardProvider(stack);
  }

  public readonly function: lambda.Function;
  public readonly serviceToken: string;

  private constructor(stack: Stack) {
    super(stack, ID);
    this.function = addBundledFunction(this, {
      bundle: 'stream-resharder',
      description: 'Takes Kinesis streams to the shard counts that their stack declares',
      environment: {},
      timeout: Duration.minutes(2),
      memorySize: 256,
    });
    const logGroup = new logs.LogGroup(this, 'FrameworkLogGroup', {
      retention: logs.RetentionDays.ONE_MONTH,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    const [frameworkOnEventRole, frameworkCompleteAndTimeoutRole] = ['OnEventRole', 'CompleteRole'].map((id) => {
      const role = new iam.Role(this, id, { assumedBy: new iam.ServicePrincipal('lambda.amazonaws.com') });
      logGroup.grantWrite(role);
      return role;
    });
    const provider = new Provider(this, 'Provider', {
      onEventHandler: this.function,
      isCompleteHandler: this.function,
      queryInterval: Duration.seconds(10),
      totalTimeout: Duration.hours(1),
      logGroup,
      frameworkOnEventRole,
      frameworkCompleteAndTimeoutRole,
    });
    this.serviceToken = provider.serviceToken;
    acknowledgeFramework(this, provider);
  }
}

/** What cdk-nag would find in the framework's own resources, and nobody can configure. */
function acknowledgeFramework(scope: ReshardProvider, provider: Provider): void {
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
