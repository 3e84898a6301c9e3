import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App, CustomResource, RemovalPolicy, Stack } from 'aws-cdk-lib';
import { Code, Function as LambdaFunction, Runtime } from 'aws-cdk-lib/aws-lambda';
import { RetentionDays } from 'aws-cdk-lib/aws-logs';
import { Bucket } from 'aws-cdk-lib/aws-s3';
import { AwsCustomResource, AwsCustomResourcePolicy, PhysicalResourceId, Provider } from 'aws-cdk-lib/custom-resources';
import { readCloudAssembly } from '../../../../../bin/local/assembly/cloud-assembly';
import { planDeployment } from '../../../../../bin/local/assembly/deployment-plan';

const directory = mkdtempSync(join(tmpdir(), 'custom-resources-'));

test('a run leaves out the functions that only a deployment invokes, and keeps the functions of the app', () => {
  writeFileSync(join(directory, 'index.js'), 'exports.handler = async () => 1;');
  const app = new App({ outdir: join(directory, 'cdk.out') });
  const stack = new Stack(app, 'Orders');
  const own = (id: string) =>
    new LambdaFunction(stack, id, {
      runtime: Runtime.NODEJS_22_X,
      handler: 'index.handler',
      code: Code.fromAsset(directory, { exclude: ['cdk.out'] }),
      logRetention: RetentionDays.ONE_DAY,
    });
  const provider = new Provider(stack, 'Provider', {
    onEventHandler: own('OnEvent'),
    isCompleteHandler: own('IsComplete'),
  });
  new CustomResource(stack, 'Resource', { serviceToken: provider.serviceToken });
  new Bucket(stack, 'Bucket', { removalPolicy: RemovalPolicy.DESTROY, autoDeleteObjects: true });
  new AwsCustomResource(stack, 'Call', {
    onUpdate: { service: 'SSM', action: 'getParameter', physicalResourceId: PhysicalResourceId.of('1') },
    policy: AwsCustomResourcePolicy.fromSdkCalls({ resources: ['*'] }),
    installLatestAwsSdk: false,
  });
  own('Writer');
  app.synth();

  const { functions, leftOut } = planDeployment(readCloudAssembly(join(directory, 'cdk.out')));
  expect(functions.map(({ path }) => path)).toEqual(['Orders/OnEvent', 'Orders/IsComplete', 'Orders/Writer']);
  const hidden = leftOut.filter(({ type }) => type === 'AWS::Lambda::Function');
  expect(hidden.map(({ reason, needed }) => ({ reason, needed }))).toEqual(
    hidden.map(() => ({ reason: 'function of a custom resource', needed: false })),
  );
  // The handlers of log groups, of the bucket and of the call, and three functions of the provider framework.
  expect(hidden).toHaveLength(6);
});
