import * as cdk from 'aws-cdk-lib';
import { Stream } from 'aws-cdk-lib/aws-kinesis';
import { Queue } from 'aws-cdk-lib/aws-sqs';
import { readCloudAssembly } from '../../../../../bin/local/assembly/cloud-assembly';
import { planDeployment } from '../../../../../bin/local/assembly/deployment-plan';

describe('nested stacks', () => {
  function plan(build: (stack: cdk.Stack) => void) {
    const app = new cdk.App();
    build(new cdk.Stack(app, 'Orders'));
    return planDeployment(readCloudAssembly(app.synth().directory));
  }

  test('can reuse logical ids, and their resources have different paths and names', () => {
    const { streams, leftOut } = plan((stack) => {
      const outer = new cdk.NestedStack(stack, 'Outer');
      // The inner stack has the same name as its parent, so the resources of both stacks have the same logical ids.
      for (const scope of [stack, outer, new cdk.NestedStack(outer, 'Outer')]) new Stream(scope, 'Events');
    });
    const paths = ['Orders/Events', 'Orders/Outer/Events', 'Orders/Outer/Outer/Events'];
    expect(streams.map(({ path }) => path).sort()).toEqual(paths);
    expect(new Set(streams.map(({ name }) => name)).size).toBe(3);
    expect(leftOut).toEqual([]);
  });

  test('receive parameters from their parents, and return outputs to them', () => {
    const { streams } = plan((stack) => {
      const first = new Stream(stack, 'First', { streamName: 'first' });
      const inner = new cdk.NestedStack(new cdk.NestedStack(stack, 'Outer'), 'Inner');
      const second = new Stream(inner, 'Second', { streamName: `${first.streamName}-second` });
      new Stream(stack, 'Third', { streamName: `${second.streamName}-third` });
    });
    expect(streams.map(({ name }) => name).sort()).toEqual(['first', 'first-second', 'first-second-third']);
  });

  test('leave out a resource if a parameter cannot be resolved', () => {
    const build = (stack: cdk.Stack) => {
      const { queueName } = new Queue(stack, 'Queue');
      new Stream(new cdk.NestedStack(stack, 'Inner'), 'Events', { streamName: queueName });
    };
    expect(plan(build).leftOut).toContainEqual({
      ...{ path: 'Orders/Inner/Events', type: 'AWS::Kinesis::Stream', needed: true },
      reason: expect.stringMatching(/^Name is unknown: Queue\w+ is an AWS::SQS::Queue, which is not emulated$/),
    });
  });

  test('are left out if their condition is false', () => {
    const { streams } = plan((stack) => {
      const never = new cdk.CfnCondition(stack, 'Never', {
        expression: cdk.Fn.conditionEquals(cdk.Aws.REGION, 'eu-west-1'),
      });
      const inner = new cdk.NestedStack(stack, 'Inner');
      new Stream(inner, 'Events');
      (inner.nestedStackResource as cdk.CfnResource).cfnOptions.condition = never;
    });
    expect(streams).toEqual([]);
  });
});
