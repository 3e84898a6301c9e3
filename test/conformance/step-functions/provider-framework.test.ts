import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { App, Duration, Stack } from 'aws-cdk-lib';
import { Code, Function as LambdaFunction, Runtime } from 'aws-cdk-lib/aws-lambda';
import { Provider } from 'aws-cdk-lib/custom-resources';
import type { InvocationResult } from '../../../bin/local/functions/function-process';
import { describeWhere } from '../../support/describe-where';
import { PYTHON_NEEDED } from '../../support/fetched';
import {
  type CustomResourceResponse,
  type FrameworkHandlers,
  ProviderFramework,
  retryUntilComplete,
} from '../../support/provider-framework';
import { definitionOf } from '../../support/stacks/resharding-stack';
import { fetchInterpreter, interpret } from './interpreter';

/**
 * Compares two ways to run the provider framework of the CDK: its state machine in moto's interpreter, and the loop
 * that replaces this state machine in other tests. Both ways receive the same requests and the same responses of the
 * function.
 */

const RETRIES = 2;
const ID = 'the-resource';

/** The state machine of a provider that polls every second. */
function stateMachine() {
  const stack = new Stack(new App(), 'Test');
  const handler = (id: string) =>
    new LambdaFunction(stack, id, {
      code: Code.fromInline('x'),
      handler: 'index.handler',
      runtime: Runtime.NODEJS_24_X,
    });
  new Provider(stack, 'Provider', {
    onEventHandler: handler('OnEvent'),
    isCompleteHandler: handler('IsComplete'),
    queryInterval: Duration.seconds(1),
    totalTimeout: Duration.seconds(RETRIES),
  });
  return definitionOf(stack);
}

const error = (errorMessage: string): InvocationResult => ({
  payload: JSON.stringify({ errorType: 'Error', errorMessage, trace: ['Error', 'at somewhere'] }),
  functionError: 'Unhandled',
});
const responds = (response: unknown): InvocationResult => ({ payload: JSON.stringify(response) });
const started = responds({ PhysicalResourceId: ID, Data: { one: 1 }, StartedAt: 5 });
const waiting = responds({ IsComplete: false });
const complete = responds({ IsComplete: true });

const CASES: [string, string, InvocationResult[], Partial<CustomResourceResponse>, number][] = [
  ['completes at once', 'Create', [started, complete], { Status: 'SUCCESS', Data: { one: 1 } }, 2],
  [
    'completes later, with more data',
    'Create',
    [started, waiting, responds({ IsComplete: true, Data: { two: 2 } })],
    { Status: 'SUCCESS', PhysicalResourceId: ID, Data: { one: 1, two: 2 } },
    3,
  ],
  [
    'never completes',
    'Create',
    [started],
    { Status: 'FAILED', Reason: 'Operation timed out', PhysicalResourceId: ID },
    2 + RETRIES,
  ],
  [
    'fails at once',
    'Create',
    [error('no')],
    { Status: 'FAILED', PhysicalResourceId: expect.stringContaining('CREATE_FAILED') },
    1,
  ],
  ['fails at once in an update', 'Update', [error('no')], { Status: 'FAILED', PhysicalResourceId: 'before' }, 1],
  ['fails later', 'Create', [started, waiting, error('no')], { Status: 'FAILED', PhysicalResourceId: ID }, 3],
  [
    'has data although it is not complete',
    'Create',
    [started, responds({ IsComplete: false, Data: { two: 2 } })],
    { Status: 'FAILED', Reason: expect.stringContaining('"Data" is not allowed') },
    2,
  ],
  ['says nothing', 'Create', [responds(null), complete], { Status: 'SUCCESS', PhysicalResourceId: 'request' }, 2],
  ['answers no JSON', 'Create', [{ payload: 'text' }], { Status: 'FAILED' }, 1],
  ['changes the id in an update', 'Update', [started, complete], { Status: 'SUCCESS', PhysicalResourceId: ID }, 2],
  ['changes the id in a deletion', 'Delete', [started], { Status: 'FAILED', PhysicalResourceId: 'before' }, 1],
  [
    'hides its data',
    'Create',
    [responds({ NoEcho: true, Data: { secret: 's' } }), waiting, complete],
    { Status: 'SUCCESS', NoEcho: true },
    3,
  ],
];

const describeIf = describeWhere(fetchInterpreter(), PYTHON_NEEDED);

describeIf('the provider framework', () => {
  let functions: Server;
  let url: string;
  let handlers: FrameworkHandlers;

  beforeAll(async () => {
    functions = createServer(async (request, response) => {
      const { function: arn, payload } = JSON.parse(await text(request)) as { function: string; payload: never };
      try {
        await (arn.includes('onTimeout') ? handlers.onTimeout(payload) : handlers.isComplete(payload));
        response.end('null');
      } catch (thrown) {
        const { name, message, stack } = thrown as Error;
        response.writeHead(500);
        response.end(JSON.stringify({ errorType: name, errorMessage: message, trace: stack?.split('\n') }));
      }
    }).listen(0, '127.0.0.1');
    await once(functions, 'listening');
    url = `http://127.0.0.1:${(functions.address() as AddressInfo).port}/`;
  });
  afterAll(() => functions?.close());

  /** The responses to CloudFormation and the payloads of the function calls. */
  async function played(
    type: string,
    answers: readonly InvocationResult[],
    execute: (handlers: FrameworkHandlers, input: string) => Promise<void>,
  ) {
    const payloads: string[] = [];
    const responses: CustomResourceResponse[] = [];
    const framework = new ProviderFramework({
      invoke: async (payload) => {
        payloads.push(payload);
        return answers[payloads.length - 1] ?? waiting;
      },
      // The framework appends a stack trace to the reason.
      respond: async (response) => void responses.push({ ...response, Reason: response.Reason.split('\n')[0]! }),
      execute,
    });
    await framework.request({
      ...{
        RequestType: type,
        ResponseURL: 'https://cloudformation.local/response',
        StackId: 'stack',
        RequestId: 'request',
      },
      ...{ ResourceType: 'Custom::Thing', LogicalResourceId: 'Thing', ResourceProperties: { Size: '1' } },
      ...(type !== 'Create' && { PhysicalResourceId: 'before' }),
    });
    return { responses, payloads };
  }

  test.each(CASES)(
    'a function that %s – the state machine responds to a %s as the loop does',
    async (_, type, answers, expected, times) => {
      const definition = stateMachine();
      const ofMachine = await played(type, answers, async (ofFramework, input) => {
        handlers = ofFramework;
        const { status } = await interpret(definition, JSON.parse(input), url);
        expect(status).toBe('SUCCEEDED');
      });
      const ofLoop = await played(type, answers, retryUntilComplete(1 + RETRIES));
      expect(ofLoop).toEqual(ofMachine);
      expect(ofMachine.responses).toMatchObject([expected]);
      expect(ofMachine.payloads).toHaveLength(times);
    },
    60_000,
  );

  test('after a creation that failed immediately, does not call the function for the deletion', async () => {
    const failed = await played('Create', [error('no')], retryUntilComplete(1));
    const [{ PhysicalResourceId }] = failed.responses as [CustomResourceResponse];
    const responses: CustomResourceResponse[] = [];
    const framework = new ProviderFramework({
      invoke: async () => {
        throw new Error('the function was called');
      },
      respond: async (response) => void responses.push(response),
    });
    const url = 'https://cloudformation.local/response';
    await framework.request({ RequestType: 'Delete', PhysicalResourceId, ResponseURL: url });
    expect(responses).toMatchObject([{ Status: 'SUCCESS' }]);
  });

  test('fails if CloudFormation rejects the response', async () => {
    const large = responds({ IsComplete: true, Data: { text: 'x'.repeat(5_000) } });
    const end = await played('Create', [started, large], retryUntilComplete(1));
    expect(end.responses).toMatchObject([{ Status: 'FAILED', Reason: expect.stringContaining('refuses a response') }]);
  }, 120_000);
});
