import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Lambda } from '@aws-sdk/client-lambda';
import { DynamoDBDocument } from '@aws-sdk/lib-dynamodb';
import { LOCAL_CREDENTIALS } from '../../../bin/local/functions/lambda-environment';
import { type LocalStack, startLocal } from '../../../bin/local/run-local';
import { synthesize as chat } from './chat/app';
import { synthesize as items } from './items/app';
import { synthesize as jobs } from './jobs/app';

/**
 * Apps that know nothing of this package, in a local run, by their own functions. They are small, and written in the manner of three
 * of aws-samples/aws-cdk-examples; each says of which.
 */

let outdir: string;
let stack: LocalStack | undefined;
let lambda: Lambda | undefined;

beforeEach(() => {
  // Outside this repository: its packages are found by the working directory alone.
  outdir = mkdtempSync(join(tmpdir(), 'apps-'));
});

afterEach(async () => {
  lambda?.destroy();
  await stack?.stop();
  rmSync(outdir, { recursive: true });
});

/** Deploys an app on this machine; what is returned invokes a function by its construct path, as any SDK does. */
async function deploy(synthesize: (outdir: string) => void): Promise<Invoke> {
  synthesize(outdir);
  stack = await startLocal({ app: outdir });
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

test('items are created and listed by functions that esbuild has bundled without the SDK', async () => {
  const invoke = await deploy(items);
  await expect(invoke('Items/create', {})).resolves.toEqual({ statusCode: 400, body: 'the body is missing' });
  await expect(invoke('Items/create', { body: '{"title":"first"}' })).resolves.toEqual({ statusCode: 201, body: '' });
  const listed = (await invoke('Items/list', {})) as { statusCode: number; body: string };
  expect({ ...listed, body: JSON.parse(listed.body) }).toEqual({
    statusCode: 200,
    body: [{ itemId: expect.any(String), title: 'first' }],
  });
});

test('connections come and go by functions from folders as they stand', async () => {
  const invoke = await deploy(chat);
  const event = { requestContext: { connectionId: 'c-1' } };
  await expect(invoke('Chat/connect', event)).resolves.toEqual({ statusCode: 200, body: 'connected' });
  expect(await stored('connections')).toEqual([{ connectionId: 'c-1' }]);
  await expect(invoke('Chat/disconnect', event)).resolves.toEqual({ statusCode: 200, body: 'disconnected' });
  expect(await stored('connections')).toEqual([]);
});

test('a job is done by a function of ES modules that nobody waits for', async () => {
  const invoke = await deploy(jobs);
  await expect(invoke('Jobs/fn', { jobId: 'j-1' }, 'Event')).resolves.toBeUndefined();
  while ((await stored('job-table')).length === 0) await sleep(50);
  expect(await stored('job-table')).toEqual([{ jobId: 'j-1', status: 'processed' }]);
});
