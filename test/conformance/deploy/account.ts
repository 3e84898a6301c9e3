import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { CloudFormation } from '@aws-sdk/client-cloudformation';
import { CloudWatch } from '@aws-sdk/client-cloudwatch';
import { DynamoDB } from '@aws-sdk/client-dynamodb';
import { Kinesis } from '@aws-sdk/client-kinesis';
import { Lambda } from '@aws-sdk/client-lambda';
import { DynamoDBDocument } from '@aws-sdk/lib-dynamodb';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import { pythonOf, pythonWith } from '../../support/fetched';

/** The folder with the packages of the Lambda runtime, from `npm run conformance deploy`. */
const RUNTIME_MODULES = 'RUNTIME_MODULES';

/**
 * The path starts at the folder in which npm runs, because the comparison with AWS is bundled into another folder than
 * this file.
 */
const HERE = resolve('test/conformance/deploy');
const ENVIRONMENT = 'deploy-moto-5.2.5';
const CDK = resolve('node_modules/.bin/cdk');
export const DEPLOY_OPTIONS = ['--require-approval', 'never', '--method', 'change-set'];

export const MINUTES = 60_000;
export const REGION = 'us-east-1';
export const CREDENTIALS = { accessKeyId: 'local', secretAccessKey: 'local' };

/** Fetches moto into a cache at the first run. False without Python. */
export function fetchEmulator(): boolean {
  const imports = 'moto.moto_server.threaded_moto_server, joserfc, antlr4';
  return pythonWith(ENVIRONMENT, ['-r', join(HERE, 'requirements.txt')], imports) !== undefined;
}

/** An account that moto emulates, its clients, and the real command line of the CDK, which deploys to the account. */
export class Account {
  static async open(): Promise<Account> {
    const account = new Account();
    await account.start();
    return account;
  }

  /** The log of all steps and commands. */
  readonly log: string[] = [];
  endpoint!: string;
  /** A folder for the files of the tests. */
  folder!: string;
  cloudFormation!: CloudFormation;
  cloudWatch!: CloudWatch;
  documents!: DynamoDBDocument;
  dynamodb!: DynamoDB;
  kinesis!: Kinesis;
  lambda!: Lambda;
  private server!: ChildProcess;

  async start(): Promise<void> {
    this.folder = mkdtempSync(join(tmpdir(), 'even-shards-account-'));
    const modules = [process.env[RUNTIME_MODULES], resolve('node_modules')].filter(Boolean).join(delimiter);
    const server = spawn(pythonOf(ENVIRONMENT), ['-m', 'emulator.serve', process.execPath, modules], {
      cwd: HERE,
      env: {
        ...process.env,
        AWS_ACCESS_KEY_ID: 'local',
        AWS_SECRET_ACCESS_KEY: 'local',
        AWS_DEFAULT_REGION: REGION,
        PYTHONDONTWRITEBYTECODE: '1',
      },
    });
    this.server = server;
    // On the error stream, moto also writes a line for each request.
    let errors = '';
    server.stderr.setEncoding('utf8').on('data', (text) => {
      errors = (errors + text).slice(-10_000);
    });
    const lines = createInterface({ input: server.stdout });
    const [first] = await Promise.race([once(lines, 'line'), once(server, 'exit')]);
    if (typeof first !== 'string') throw new Error(`moto did not start: ${errors}`);
    lines.on('line', (line) => this.log.push(line));
    this.endpoint = JSON.parse(first).endpoint;
    const options = { region: REGION, credentials: CREDENTIALS, endpoint: this.endpoint };
    this.cloudFormation = new CloudFormation(options);
    this.cloudWatch = new CloudWatch(options);
    this.dynamodb = new DynamoDB(options);
    this.documents = DynamoDBDocument.from(this.dynamodb);
    this.kinesis = new Kinesis({ ...options, requestHandler: new NodeHttpHandler() });
    this.lambda = new Lambda(options);
  }

  /** Runs the command line of the CDK. Returns whether the command succeeded, and its output. */
  async cdk(...commandArguments: string[]): Promise<{ succeeded: boolean; printed: string }> {
    this.log.push(`$ cdk ${commandArguments.map((argument) => argument.replace(`${tmpdir()}/`, '')).join(' ')}`);
    const command = [...commandArguments, '--no-color', '--no-notices', '--progress', 'events', '--ci'];
    const run = promisify(execFile)(CDK, command, { cwd: this.folder, env: this.environment, maxBuffer: 2 ** 26 });
    return run.then(
      ({ stdout, stderr }) => ({ succeeded: true, printed: stdout + stderr }),
      ({ stdout, stderr }) => ({ succeeded: false, printed: stdout + stderr }),
    );
  }

  /** Prepares the account for deployments. */
  bootstrap(): Promise<string> {
    return this.succeed('bootstrap', `aws://123456789012/${REGION}`);
  }

  /** Deploys the stack of an assembly. Returns the outputs of the stack. */
  async deploy(stackName: string, assembly: string): Promise<Record<string, string>> {
    await this.succeed('deploy', '--app', assembly, ...DEPLOY_OPTIONS);
    return (await this.stack(stackName)).outputs;
  }

  /** Runs a command of the CDK that must succeed. Returns its output. */
  async succeed(...commandArguments: string[]): Promise<string> {
    const { succeeded, printed } = await this.cdk(...commandArguments);
    if (!succeeded) throw new Error(printed);
    return printed;
  }

  /** The status and the outputs of a stack. */
  async stack(StackName: string): Promise<{ status: string; outputs: Record<string, string> }> {
    const { Stacks = [] } = await this.cloudFormation.describeStacks({ StackName });
    const { StackStatus, Outputs = [] } = Stacks[0]!;
    const outputs = Object.fromEntries(Outputs.map(({ OutputKey, OutputValue }) => [OutputKey!, OutputValue!]));
    return { status: StackStatus!, outputs };
  }

  /** Invokes a function. Throws if the function fails. */
  // biome-ignore lint/suspicious/noExplicitAny: the tests read the JSON as a caller does
  async invoke(FunctionName: string, event: object): Promise<any> {
    const { Payload, FunctionError } = await this.lambda.invoke({ FunctionName, Payload: JSON.stringify(event) });
    const response = JSON.parse(Payload!.transformToString());
    if (FunctionError !== undefined) throw new Error(JSON.stringify(response));
    return response;
  }

  /** Applies the `--query` of a command of the AWS CLI to a response of the API. */
  async select(query: string, response: object): Promise<unknown> {
    const program =
      'import jmespath, json, sys; print(json.dumps(jmespath.search(sys.argv[1], json.loads(sys.argv[2]))))';
    const { stdout } = await promisify(execFile)(pythonOf(ENVIRONMENT), [
      ...['-c', program, query, JSON.stringify(response)],
    ]);
    return JSON.parse(stdout);
  }

  async close(): Promise<void> {
    const { cloudFormation, cloudWatch, dynamodb, kinesis, lambda } = this;
    for (const client of [cloudFormation, cloudWatch, dynamodb, kinesis, lambda]) client?.destroy();
    const exit = once(this.server, 'exit');
    this.server.stdin?.end();
    await exit;
  }

  /**
   * The environment variables of the command. They contain no AWS account of this machine, and the emulator is the only
   * endpoint.
   */
  private get environment(): NodeJS.ProcessEnv {
    return {
      PATH: process.env.PATH,
      HOME: this.folder,
      AWS_ENDPOINT_URL: this.endpoint,
      // The command line passes the URL of the template to CloudFormation. From this form of the URL, moto can read the
      // bucket and the key.
      AWS_ENDPOINT_URL_S3_FOR_CLOUDFORMATION: `https://s3.${REGION}.amazonaws.com`,
      AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true',
      AWS_ACCESS_KEY_ID: CREDENTIALS.accessKeyId,
      AWS_SECRET_ACCESS_KEY: CREDENTIALS.secretAccessKey,
      AWS_REGION: REGION,
      AWS_EC2_METADATA_DISABLED: 'true',
      CDK_DISABLE_CLI_TELEMETRY: 'true',
      CDK_DISABLE_VERSION_CHECK: 'true',
    };
  }
}

/**
 * An account for the tests of a block. It starts before the first test, and closes after the last test. Its log is written to
 * the file `log` of node_modules/.cache.
 */
export function accountForTests({ bootstraps = true, log = '' } = {}): Account {
  const account = new Account();
  beforeAll(async () => {
    await account.start();
    if (bootstraps) await account.bootstrap();
  }, 5 * MINUTES);
  afterAll(async () => {
    if (log !== '') writeFileSync(resolve('node_modules/.cache', log), `${account.log.join('\n')}\n`);
    await account.close();
  }, MINUTES);
  return account;
}
