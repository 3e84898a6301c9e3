import { once } from 'node:events';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';

/** The result of an invocation. */
export interface Invocation {
  /** The response as JSON; absent if the function threw. */
  response?: string;
  /** The error that the function threw. */
  error?: { name: string; message: string; code?: string; isOfService?: boolean };
  /** The log of the function and the runtime, in the JSON format and in the text format. */
  log: string;
  /** The time that was left when the invocation ended. Time in which the machine did not run the thread does not count as used. */
  leftMs: number;
}

interface LambdaFunctionOptions {
  /** The folder of the bundle in dist/lambda. */
  name: string;
  /**
   * The folder of the package that contains dist/lambda.
   * @default the working tree
   */
  packageFolder?: string;
  environment?: Readonly<Record<string, string>>;
  /** The endpoint for all services. */
  endpoint: string;
  memoryMb?: number;
}

/**
 * Runs a bundled function in a separate thread with limited memory. The thread writes logs in the formats of Lambda.
 */
export class LambdaFunction {
  private constructor(
    readonly name: string,
    private readonly worker: Worker,
  ) {}

  static async start({
    name,
    packageFolder = process.cwd(),
    environment,
    endpoint,
    memoryMb = 256,
  }: LambdaFunctionOptions): Promise<LambdaFunction> {
    const worker = new Worker(join(process.cwd(), 'test/support/lambda-runtime.mjs'), {
      workerData: {
        bundle: join(packageFolder, 'dist/lambda', name, 'index.js'),
        environment: {
          AWS_ACCESS_KEY_ID: 'local',
          AWS_ENDPOINT_URL: endpoint,
          AWS_LAMBDA_FUNCTION_NAME: name,
          AWS_REGION: 'us-east-1',
          AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true',
          AWS_SECRET_ACCESS_KEY: 'local',
          POWERTOOLS_DEV: 'false',
          ...environment,
        },
      },
      env: { PATH: process.env.PATH },
      resourceLimits: { maxOldGenerationSizeMb: memoryMb },
    });
    await once(worker, 'message');
    return new LambdaFunction(name, worker);
  }

  /** Throws if the thread ends, for example because of too much memory. It does not stop an endless invocation. */
  async invoke(event: unknown, timeoutMs = 10_000): Promise<Invocation> {
    return this.invokeJson(JSON.stringify(event), timeoutMs);
  }

  async invokeJson(payload: string, timeoutMs = 10_000): Promise<Invocation> {
    const over = new AbortController();
    const answered = once(this.worker, 'message', over).then(([answer]) => answer as Invocation);
    const ended = once(this.worker, 'exit', over).then(([code]) => {
      throw new Error(`${this.name} ended with exit code ${code}`);
    });
    for (const loser of [answered, ended]) loser.catch(() => {});
    this.worker.postMessage({ payload, timeoutMs });
    try {
      return await Promise.race([answered, ended]);
    } finally {
      over.abort();
    }
  }

  /** Sets the clock of the thread forward. */
  setForward(laterMs: number): void {
    this.worker.postMessage({ laterMs });
  }

  async stop(): Promise<void> {
    await this.worker.terminate();
  }
}
