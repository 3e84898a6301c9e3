import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { CloudFormation } from '@aws-sdk/client-cloudformation';
import { CloudWatch } from '@aws-sdk/client-cloudwatch';
import { Lambda } from '@aws-sdk/client-lambda';
import { SecretsManager } from '@aws-sdk/client-secrets-manager';
import type { LocalFunction } from '../../../../../bin/local/assembly/planned-function';
import { PortUnavailableError, startInvokeServer } from '../../../../../bin/local/functions/invoke-server';
import { LOCAL_CREDENTIALS } from '../../../../../bin/local/functions/lambda-environment';
import { endpointOf } from '../../../../../bin/local/loopback';

const invoke = jest.fn();
const definition: LocalFunction = {
  path: 'Orders/Writer',
  name: 'writer',
  arn: 'arn:aws:lambda:us-east-1:000000000000:function:writer',
  runtime: 'nodejs24.x',
  handler: 'index.handler',
  codeDirectory: '/asset',
  environment: { BY_STATUS: '{"tableName":"orders"}' },
  unset: {},
  layers: [],
  missingLayers: [],
  timeoutSeconds: 30,
  memoryMb: 256,
  qualifiers: { live: '2', 7: '7' },
};
const functions = new Map([['writer', { invoke, definition }]]);
const problems: string[] = [];
let server: Server;
let lambda: Lambda;

beforeAll(async () => {
  server = await startInvokeServer(0, functions, (_, line) => problems.push(line));
  lambda = new Lambda({
    endpoint: endpointOf(server),
    region: 'us-east-1',
    credentials: LOCAL_CREDENTIALS,
  });
});

beforeEach(() => {
  invoke.mockReset().mockResolvedValue({ payload: '{"written":1}' });
});

afterAll(() => {
  lambda.destroy();
  server.close();
});

describe('the Invoke API', () => {
  test('returns the response of the function', async () => {
    const { StatusCode, Payload, FunctionError, ExecutedVersion } = await lambda.invoke({
      FunctionName: 'writer',
      Payload: '{"orders":["ä"]}',
      LogType: 'Tail',
    });
    expect(invoke).toHaveBeenCalledWith('{"orders":["ä"]}', undefined);
    expect({ StatusCode, FunctionError, ExecutedVersion }).toEqual({
      StatusCode: 200,
      FunctionError: undefined,
      ExecutedVersion: '$LATEST',
    });
    await expect(lambda.invoke({ FunctionName: 'writer', Qualifier: '7' })).resolves.toMatchObject({
      ExecutedVersion: '7',
    });
    expect(JSON.parse(Payload!.transformToString())).toEqual({ written: 1 });
  });

  test('returns FunctionError for a failed function', async () => {
    invoke.mockResolvedValue({ payload: '{"errorType":"TypeError"}', functionError: 'Unhandled' });
    const { StatusCode, FunctionError, Payload } = await lambda.invoke({ FunctionName: 'writer' });
    expect({ StatusCode, FunctionError }).toEqual({ StatusCode: 200, FunctionError: 'Unhandled' });
    expect(JSON.parse(Payload!.transformToString())).toEqual({ errorType: 'TypeError' });
  });

  test.each([
    'writer',
    'writer:$LATEST',
    '000000000000:function:writer',
    'arn:aws:lambda:us-east-1:000000000000:function:writer',
    'arn:aws:lambda:us-east-1:000000000000:function:writer:live',
  ])('finds a function by %s', async (FunctionName) => {
    await expect(lambda.invoke({ FunctionName })).resolves.toMatchObject({ StatusCode: 200 });
  });

  test.each([
    { FunctionName: 'writer', Qualifier: 'live' },
    { FunctionName: 'writer:live' },
    { FunctionName: 'arn:aws:lambda:us-east-1:000000000000:function:writer:live' },
  ])('passes the alias to the function: %j', async (input) => {
    await lambda.invoke(input);
    expect(invoke).toHaveBeenCalledWith('{}', 'live');
  });

  test.each(['Event', 'RequestResponse'] as const)('reports the failure of an invocation of type %s', async (type) => {
    const payload = JSON.stringify({ errorType: 'Error', errorMessage: 'no order' });
    invoke.mockResolvedValue({ payload, functionError: 'Unhandled' });
    problems.length = 0;
    await lambda.invoke({ FunctionName: 'writer', InvocationType: type });
    expect(problems).toEqual(['Orders/Writer fails: Error: no order']);
  });

  test('responds to an asynchronous invocation before the function returns', async () => {
    invoke.mockReturnValue(new Promise(() => {}));
    const { StatusCode } = await lambda.invoke({ FunctionName: 'writer', InvocationType: 'Event', Payload: '{"a":1}' });
    expect(StatusCode).toBe(202);
    expect(invoke).toHaveBeenCalledWith('{"a":1}', undefined);
  });

  test('does not run the function if the invocation is a dry run', async () => {
    const { StatusCode } = await lambda.invoke({ FunctionName: 'writer', InvocationType: 'DryRun' });
    expect(StatusCode).toBe(204);
    expect(invoke).not.toHaveBeenCalled();
  });

  test('rejects an unknown function', async () => {
    await expect(lambda.invoke({ FunctionName: 'reader' })).rejects.toMatchObject({
      name: 'ResourceNotFoundException',
      message: 'Function not found: arn:aws:lambda:us-east-1:000000000000:function:reader',
      Type: 'User',
      $metadata: { httpStatusCode: 404 },
    });
  });

  test('rejects a malformed function name', async () => {
    const url = `${endpointOf(server)}/2015-03-31/functions/%E0%A4%A/invocations`;
    const response = await fetch(url, { method: 'POST', body: '{}' });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ message: '%E0%A4%A is not a function name or ARN' });
  });

  test('rejects a payload that is not JSON', async () => {
    await expect(lambda.invoke({ FunctionName: 'writer', Payload: '{"open":' })).rejects.toMatchObject({
      name: 'InvalidRequestContentException',
      message: expect.stringContaining('Could not parse request body into json'),
      $metadata: { httpStatusCode: 400 },
    });
    expect(invoke).not.toHaveBeenCalled();
  });

  test.each([
    ['RequestResponse', 6_291_456],
    ['Event', 1_048_576],
  ] as const)('accepts a payload of %s up to %d bytes', async (InvocationType, limit) => {
    const payload = (bytes: number) => JSON.stringify('x'.repeat(bytes - 2));
    await lambda.invoke({ FunctionName: 'writer', InvocationType, Payload: payload(limit) });
    await expect(
      lambda.invoke({ FunctionName: 'writer', InvocationType, Payload: payload(limit + 1) }),
    ).rejects.toMatchObject({
      name: 'RequestTooLargeException',
      $metadata: { httpStatusCode: 413 },
    });
    expect(invoke).toHaveBeenCalledTimes(1);
  });

  test('rejects an operation that is not emulated', async () => {
    await expect(lambda.listFunctions({})).rejects.toMatchObject({
      name: 'UnknownOperationException',
      message: expect.stringContaining(
        'is not emulated: the local Lambda endpoint has only Invoke and GetFunctionConfiguration',
      ),
    });
  });
});

test.each<[string, (config: object) => Promise<unknown>]>([
  ['cloudformation', (config) => new CloudFormation(config).listStacks({})],
  ['secretsmanager', (config) => new SecretsManager(config).listSecrets({})],
  ['monitoring', (config) => new CloudWatch(config).listMetrics({})],
])('a call to %s fails with the name of the service', async (service, send) => {
  await expect(
    send({ endpoint: endpointOf(server), region: 'us-east-1', credentials: LOCAL_CREDENTIALS }),
  ).rejects.toMatchObject({
    name: 'NotEmulated',
    message: `${service} is not emulated in a local run`,
  });
});

describe('the configuration of a function', () => {
  test('has the properties of its template', async () => {
    await expect(lambda.getFunctionConfiguration({ FunctionName: 'writer' })).resolves.toMatchObject({
      FunctionName: 'writer',
      FunctionArn: definition.arn,
      Runtime: 'nodejs24.x',
      Handler: 'index.handler',
      Timeout: 30,
      MemorySize: 256,
      Environment: { Variables: definition.environment },
      State: 'Active',
      LastUpdateStatus: 'Successful',
    });
    expect(invoke).not.toHaveBeenCalled();
  });

  test('is not found for an unknown function', async () => {
    await expect(lambda.getFunctionConfiguration({ FunctionName: 'reader' })).rejects.toMatchObject({
      name: 'ResourceNotFoundException',
      $metadata: { httpStatusCode: 404 },
    });
  });
});

test('startInvokeServer rejects a port that another process uses, and names the port', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => other.once('listening', resolve));
  const { port } = other.address() as AddressInfo;
  await expect(startInvokeServer(port, functions)).rejects.toThrow(PortUnavailableError);
  await expect(startInvokeServer(port, functions)).rejects.toThrow(`port ${port} is in use`);
  other.close();
});
