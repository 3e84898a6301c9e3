import '../../support/oldest-cdk';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { App, CustomResource, Duration, Stack } from 'aws-cdk-lib';
import { CfnStream } from 'aws-cdk-lib/aws-kinesis';
import { Code, Function as LambdaFunction, Runtime } from 'aws-cdk-lib/aws-lambda';
import { Provider } from 'aws-cdk-lib/custom-resources';
import { describeWhere } from '../../support/describe-where';
import { PYTHON_NEEDED } from '../../support/fetched';
import { accountForTests, DEPLOY_OPTIONS, fetchEmulator, MINUTES } from './account';

/**
 * Records the requests to the function of a custom resource during replacements, failed deployments and rollbacks. Runs the real command
 * line and provider framework of the CDK, with moto's interpreter for the state machine. The emulator of
 * CloudFormation behaves as the user guide describes.
 */

const TAKEN = 'taken';

/** A function that records its requests. The physical id of the resource is the name in the request. */
const FUNCTION = `
const { appendFileSync } = require('node:fs');
exports.onEvent = async ({ RequestType, PhysicalResourceId = 'nothing', ResourceProperties: { Name, Fails } }) => {
  appendFileSync(process.env.ASKED, RequestType + ' ' + PhysicalResourceId + ' as ' + Name + '\\n');
  if (RequestType === 'Delete') return {};
  if (Fails === 'at once') throw new Error('fails immediately');
  return { PhysicalResourceId: Name };
};
exports.isComplete = async ({ RequestType, ResourceProperties: { Fails, Length } }) => {
  if (RequestType !== 'Delete' && Fails === 'later') throw new Error('fails later');
  return { IsComplete: true, Data: { text: 'x'.repeat(Number(Length)) } };
};
`;

interface Deployed {
  Name: string;
  Fails?: 'at once' | 'later';
  Length?: number;
  /** Whether another resource makes the deployment fail after this resource is complete. */
  failsAtEnd?: boolean;
}

const describeIf = describeWhere(fetchEmulator(), PYTHON_NEEDED);

describeIf('the function of a custom resource', () => {
  const account = accountForTests();
  let asked: string;
  let deployments = 0;

  beforeAll(async () => {
    mkdirSync(join(account.folder, 'code'));
    writeFileSync(join(account.folder, 'code/index.js'), FUNCTION);
    asked = join(account.folder, 'asked');
    await account.kinesis.createStream({ StreamName: TAKEN, ShardCount: 1 });
  });

  /** Deploys a stack with the resource. Returns the status of the stack and the requests to the function. */
  async function deploy(stackName: string, { failsAtEnd, ...properties }: Deployed) {
    writeFileSync(asked, '');
    const outdir = join(account.folder, String(deployments++));
    const stack = new Stack(new App({ outdir }), stackName);
    const handler = (name: string) =>
      new LambdaFunction(stack, name, {
        code: Code.fromAsset(join(account.folder, 'code')),
        handler: `index.${name}`,
        runtime: Runtime.NODEJS_24_X,
        environment: { ASKED: asked },
      });
    const provider = new Provider(stack, 'Provider', {
      onEventHandler: handler('onEvent'),
      isCompleteHandler: handler('isComplete'),
      queryInterval: Duration.seconds(1),
    });
    const { serviceToken } = provider;
    const resource = new CustomResource(stack, 'Thing', {
      ...{ serviceToken, resourceType: 'Custom::Thing' },
      properties: { Length: 1, ...properties },
    });
    if (failsAtEnd) new CfnStream(stack, 'Taken', { name: TAKEN, shardCount: 1 }).node.addDependency(resource);
    (stack.node.root as App).synth();
    await account.cdk('deploy', '--app', outdir, ...DEPLOY_OPTIONS);
    const { status } = await account.stack(stackName);
    return { status, asked: readFileSync(asked, 'utf8').trimEnd().split('\n') };
  }

  test(
    'a replacement – the function deletes the old resource after the deployment',
    async () => {
      expect(await deploy('Replaced', { Name: 'a' })).toEqual({
        status: 'CREATE_COMPLETE',
        asked: ['Create nothing as a'],
      });
      expect(await deploy('Replaced', { Name: 'b' })).toEqual({
        status: 'UPDATE_COMPLETE',
        asked: ['Update a as b', 'Delete a as a'],
      });
    },
    5 * MINUTES,
  );

  test(
    'a deployment that fails after a replacement – the function restores the old resource, and deletes the new resource',
    async () => {
      expect(await deploy('Replaced', { Name: 'c', failsAtEnd: true })).toEqual({
        status: 'UPDATE_ROLLBACK_COMPLETE',
        asked: ['Update b as c', 'Update c as b', 'Delete c as c'],
      });
    },
    5 * MINUTES,
  );

  test.each<[string, Deployed, string[]]>([
    ['at once', { Name: 'd', Fails: 'at once' }, ['Create nothing as d']],
    ['later', { Name: 'e', Fails: 'later' }, ['Create nothing as e', 'Delete e as e']],
    ['with a response that is too long', { Name: 'f', Length: 5_000 }, ['Create nothing as f']],
  ])(
    'a creation that fails %s – the function deletes the resource if it has an id',
    async (_, properties, requests) => {
      const end = await deploy(`Failed-${properties.Name}`, properties);
      expect(end).toEqual({ status: 'ROLLBACK_COMPLETE', asked: requests });
    },
    5 * MINUTES,
  );
});
