import { dirname, join } from 'node:path';
import type { Invocation } from '../support/lambda-function';

/** The body that the framework sends to the response URL of a custom resource request. */
export interface CustomResourceResponse {
  Status: 'SUCCESS' | 'FAILED';
  Reason: string;
  PhysicalResourceId: string;
  Data?: Record<string, unknown>;
}

/** The handlers of the Lambda functions of the framework. */
interface FrameworkHandlers {
  onEvent(event: object): Promise<void>;
  isComplete(event: object): Promise<void>;
}

interface Outbound {
  startExecution(input: { input: string }): Promise<unknown>;
  invokeFunction(input: { Payload: string }): Promise<{ Payload: Buffer; FunctionError?: string }>;
  httpRequest(options: object, body: string): Promise<void>;
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
 * shorter waits replaces its state machine.
 */
export class ProviderFramework {
  private readonly handlers: FrameworkHandlers = require(join(RUNTIME, 'framework'));
  private execution: string | undefined;

  /**
   * @param invoke invokes the function behind the framework
   * @param respond receives the response that the framework sends to CloudFormation
   */
  constructor(
    invoke: (payload: string) => Promise<Invocation>,
    respond: (response: CustomResourceResponse) => Promise<void>,
  ) {
    for (const name of ['USER_ON_EVENT_FUNCTION_ARN', 'USER_IS_COMPLETE_FUNCTION_ARN', 'WAITER_STATE_MACHINE_ARN']) {
      process.env[name] = 'arn:aws:local';
    }
    const outbound: Outbound = require(join(RUNTIME, 'outbound'));
    outbound.startExecution = async ({ input }) => {
      this.execution = input;
    };
    outbound.invokeFunction = async ({ Payload }) => {
      const { response, error } = await invoke(Payload);
      if (error === undefined) return { Payload: Buffer.from(response!) };
      const { name: errorType, message: errorMessage } = error;
      return { Payload: Buffer.from(JSON.stringify({ errorType, errorMessage })), FunctionError: 'Unhandled' };
    };
    outbound.httpRequest = async (_, body) => {
      const bytes = Buffer.byteLength(body);
      if (bytes > MAX_RESPONSE_BYTES) throw new Error(`CloudFormation rejects a response of ${bytes} bytes`);
      await respond(JSON.parse(body));
    };
    jest.spyOn(console, 'log').mockImplementation();
  }

  /** Handles a request of CloudFormation. Resolves when the framework has sent the response. */
  async request(event: object): Promise<void> {
    this.execution = undefined;
    await this.handlers.onEvent(event);
    while (this.execution !== undefined) {
      // The handler throws until the resource is complete. If the function fails, the handler responds to CloudFormation.
      const isComplete = await this.handlers.isComplete(JSON.parse(this.execution)).then(
        () => true,
        () => false,
      );
      if (isComplete) return;
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
  }
}
