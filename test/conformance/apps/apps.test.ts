import { setTimeout as sleep } from 'node:timers/promises';
import { Lambda } from '@aws-sdk/client-lambda';
import { DynamoDBDocument } from '@aws-sdk/lib-dynamodb';
import { LOCAL_CREDENTIALS } from '../../../bin/local/functions/lambda-environment';
import { type LocalStack, startLocal } from '../../../bin/local/run-local';
import { synthesize as chat } from './chat/app';
import { synthesize as items } from './items/app';
import { synthesize as jobs } from './jobs/app';

/**
 * A local run of apps that do not use this package. Each app is a small version of an app in
 * aws-samples/aws-cdk-examples, and names that app.
 */

let stack: LocalStack | undefined;
let lambda: Lambda | undefined;

afterEach(async () => {
  lambda?.destroy();
  await stack?.stop();
});

/** Starts a local run of an app. Returns a function that invokes functions by construct path, as an SDK does. */
async function deploy(synthesize: () => string): Promise<Invoke> {
  // No parent folder of the assembly has node_modules, so the run must find packages from its working directory.
  stack = await startLocal({ app: synthesize() });
  const client = new Lambda({ endpoint: stack.endpoints.lambda, region: 'us-east-1', credentials: LOCAL_CREDENTIALS });
  lambda = client;
  const { functions } = stack;
  return async (path, event, InvocationType) => {
    const FunctionName = functions.find((each) => each.path === path)!.name;
    const { Payload } = await client.invoke({ FunctionName, InvocationType, Payload: JSON.stringify(event) });
    return Payload?.length ? JSON.parse(Payload.transformToString()) : undefined;
  };
}
type Invoke = (path: string, event: object, type?: 'Event') => Promise<unknown>;

async function stored(TableName: string): Promise<object[]> {
  const { Items = [] } = await DynamoDBDocument.from(stack!.clients.dynamodb).scan({ TableName });
  return Items;
}

test('functions can create and list items if esbuild bundles them without the SDK', async () => {
  const invoke = await deploy(items);
  await expect(invoke('Items/create', {})).resolves.toEqual({ statusCode: 400, body: 'the body is missing' });
  await expect(invoke('Items/create', { body: '{"title":"first"}' })).resolves.toEqual({ statusCode: 201, body: '' });
  const listed = (await invoke('Items/list', {})) as { statusCode: number; body: string };
  expect({ ...listed, body: JSON.parse(listed.body) }).toEqual({
    statusCode: 200,
    body: [{ itemId: expect.any(String), title: 'first' }],
  });
});

test('functions from plain folders store and delete connections', async () => {
  const invoke = await deploy(chat);
  const event = { requestContext: { connectionId: 'c-1' } };
  await expect(invoke('Chat/connect', event)).resolves.toEqual({ statusCode: 200, body: 'connected' });
  expect(await stored('connections')).toEqual([{ connectionId: 'c-1' }]);
  await expect(invoke('Chat/disconnect', event)).resolves.toEqual({ statusCode: 200, body: 'disconnected' });
  expect(await stored('connections')).toEqual([]);
});

test('an asynchronously invoked function of ES modules completes a job', async () => {
  const invoke = await deploy(jobs);
  await expect(invoke('Jobs/fn', { jobId: 'j-1' }, 'Event')).resolves.toBeUndefined();
  while ((await stored('job-table')).length === 0) await sleep(50);
  expect(await stored('job-table')).toEqual([{ jobId: 'j-1', status: 'processed' }]);
});
