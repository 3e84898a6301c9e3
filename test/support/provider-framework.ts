import { dirname, join } from 'node:path';
import type { InvocationResult } from '../../bin/local/functions/function-process';

/** The body that the framework sends to the response URL of a custom resource request. */
export interface CustomResourceResponse {
  Status: 'SUCCESS' | 'FAILED';
  Reason: string;
  PhysicalResourceId: string;
  NoEcho?: boolean;
  Data?: Record<string, unknown>;
}

/** The handlers of the Lambda functions of the framework. */
export interface FrameworkHandlers {
  onEvent(event: object): Promise<void>;
  isComplete(event: object): Promise<void>;
  onTimeout(event: { Cause: string }): Promise<void>;
}

interface Outbound {
  startExecution(input: { input: string }): Promise<unknown>;
  invokeFunction(input: { Payload: string }): Promise<{ Payload: Buffer; FunctionError?: string }>;
  httpRequest(options: object, body: string): Promise<void>;
}

interface ProviderFrameworkOptions {
  /** Invokes the function behind the framework. */
  invoke(payload: string): Promise<InvocationResult>;
  /** Receives the response that the framework sends to CloudFormation. */
  respond(response: CustomResourceResponse): Promise<void>;
  /** Executes the state machine of the framework. @default a loop with at most 1,000 attempts */
  execute?(handlers: FrameworkHandlers, input: string): Promise<void>;
}

// The runtime of Lambda contains this package. Tests do not call it.
jest.mock('@aws-sdk/client-sfn', () => ({}), { virtual: true });

const RUNTIME = join(
  dirname(require.resolve('aws-cdk-lib/package.json')),
  'custom-resources/lib/provider-framework/runtime',
);

/** The limit of CloudFormation for a response. Source: its user guide, custom resource response objects. */
const MAX_RESPONSE_BYTES = 4_096;

/**
 * The provider framework of the CDK. Local functions replace its requests to Lambda and CloudFormation. A loop with
 * the same retries and shorter waits replaces its state machine.
 */
export class ProviderFramework {
  private readonly handlers: FrameworkHandlers = require(join(RUNTIME, 'framework'));
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
    outbound.httpRequest = async (_, body) => {
      const bytes = Buffer.byteLength(body);
      if (bytes > MAX_RESPONSE_BYTES) throw new Error(`CloudFormation rejects a response of ${bytes} bytes`);
      await options.respond(JSON.parse(body));
    };
    jest.spyOn(console, 'log').mockImplementation();
  }

  /** Handles a request of CloudFormation. Resolves when the framework has sent the response. */
  async request(event: object): Promise<void> {
    const { execute = retryUntilComplete(1_000) } = this.options;
    this.execution = undefined;
    await this.handlers.onEvent(event);
    if (this.execution !== undefined) await execute(this.handlers, this.execution);
  }
}

/**
 * Calls the handler again until the handler succeeds, as the state machine does. After the last attempt, it throws the
 * error of the handler.
 */
export function retryUntilComplete(attempts: number) {
  return async ({ isComplete, onTimeout }: FrameworkHandlers, input: string): Promise<void> => {
    let errorMessage = '';
    for (let attempt = 0; attempt < attempts; attempt += 1) {
      try {
        return await isComplete(JSON.parse(input));
      } catch (error) {
        errorMessage = (error as Error).message;
      }
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
    await onTimeout({ Cause: JSON.stringify({ errorMessage }) });
  };
}
