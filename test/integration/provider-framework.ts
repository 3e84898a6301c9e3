import { request } from 'node:http';
import { dirname, join } from 'node:path';
import type { InvocationResult } from '../../bin/local/functions/function-thread';

/** What is put to the URL of a custom resource's request. */
export interface CustomResourceResponse {
  Status: 'SUCCESS' | 'FAILED';
  Reason: string;
  PhysicalResourceId: string;
  Data?: Record<string, unknown>;
}

interface Framework {
  onEvent(event: object): Promise<void>;
  isComplete(event: object): Promise<void>;
  onTimeout(event: { Cause: string }): Promise<void>;
}

interface Outbound {
  startExecution(input: { input: string }): Promise<unknown>;
  invokeFunction(input: { Payload: string }): Promise<{ Payload: Buffer; FunctionError?: string }>;
  httpRequest(options: { method: string; path: string }, body: string): Promise<void>;
}

interface ProviderFrameworkOptions {
  /** Invokes the function behind the framework. */
  invoke(payload: string): Promise<InvocationResult>;
  /** Where responses are put, on the loopback interface. */
  responsePort: number;
  /** How often the state machine tries before it calls it a time-out. @default 1000 */
  attempts?: number;
}

// Lambda brings it; nothing here calls it.
jest.mock('@aws-sdk/client-sfn', () => ({}), { virtual: true });

const RUNTIME = join(
  dirname(require.resolve('aws-cdk-lib/package.json')),
  'custom-resources/lib/provider-framework/runtime',
);

/**
 * The CDK's own provider framework, its calls of Lambda and CloudFormation turned to this machine, and in place of its
 * state machine a loop that retries as the state machine does, but sooner.
 */
export class ProviderFramework {
  private readonly framework: Framework = require(join(RUNTIME, 'framework'));
  private execution: string | undefined;

  constructor(private readonly options: ProviderFrameworkOptions) {
    for (const name of ['USER_ON_EVENT_FUNCTION_ARN', 'USER_IS_COMPLETE_FUNCTION_ARN', 'WAITER_STATE_MACHINE_ARN']) {
      process.env[name] = 'arn:aws:local';
    }
    const outbound: Outbound = require(join(RUNTIME, 'outbound'));
    outbound.startExecution = async ({ input }) => {
      this.execution = input;
    };
    outbound.invokeFunction = async ({ Payload }) => {
      const { payload, functionError } = await options.invoke(Payload);
      return { Payload: Buffer.from(payload), FunctionError: functionError };
    };
    outbound.httpRequest = (target, body) => put(options.responsePort, target, body);
    jest.spyOn(console, 'log').mockImplementation();
  }

  /** Handles a request of CloudFormation to its end. */
  async request(event: object): Promise<void> {
    this.execution = undefined;
    await this.framework.onEvent(event);
    if (this.execution !== undefined) await this.waitUntilComplete(this.execution);
  }

  private async waitUntilComplete(input: string): Promise<void> {
    let errorMessage = '';
    for (let attempt = 0; attempt < (this.options.attempts ?? 1_000); attempt += 1) {
      try {
        return await this.framework.isComplete(JSON.parse(input));
      } catch (error) {
        errorMessage = (error as Error).message;
      }
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
    await this.framework.onTimeout({ Cause: JSON.stringify({ errorMessage }) });
  }
}

function put(port: number, { method, path }: { method: string; path: string }, body: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, method, path }, (response) => {
      response.resume();
      response.on('end', resolve);
    });
    sent.on('error', reject);
    sent.end(body);
  });
}
