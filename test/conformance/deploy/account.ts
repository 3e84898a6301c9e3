import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
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

export const REGION = 'us-east-1';
export const CREDENTIALS = { accessKeyId: 'local', secretAccessKey: 'local' };

/** Fetches moto into a cache at the first run. False without Python. */
export function fetchEmulator(): boolean {
  const imports = 'moto.moto_server.threaded_moto_server, joserfc, antlr4';
  return pythonWith(ENVIRONMENT, ['-r', join(HERE, 'requirements.txt')], imports) !== undefined;
}

/** An account that moto emulates, and the real command line of the CDK, which deploys to the account. */
export class Account {
  static async open(): Promise<Account> {
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
    // On the error stream, moto also writes a line for each request.
    let errors = '';
    server.stderr.setEncoding('utf8').on('data', (text) => {
      errors = (errors + text).slice(-10_000);
    });
    const lines = createInterface({ input: server.stdout });
    const [first] = await Promise.race([once(lines, 'line'), once(server, 'exit')]);
    if (typeof first !== 'string') throw new Error(`moto did not start: ${errors}`);
    return new Account(server, lines, JSON.parse(first).endpoint);
  }

  /** The log of all steps and commands. */
  readonly log: string[] = [];
  private readonly home = mkdtempSync(join(tmpdir(), 'even-shards-account-'));

  private constructor(
    private readonly server: ChildProcess,
    lines: ReturnType<typeof createInterface>,
    readonly endpoint: string,
  ) {
    lines.on('line', (line) => this.log.push(line));
  }

  /** Runs the command line of the CDK. Returns whether the command succeeded, and its output. */
  async cdk(...commandArguments: string[]): Promise<{ succeeded: boolean; printed: string }> {
    this.log.push(`$ cdk ${commandArguments.map((argument) => argument.replace(`${tmpdir()}/`, '')).join(' ')}`);
    const command = [...commandArguments, '--no-color', '--no-notices', '--progress', 'events', '--ci'];
    const run = promisify(execFile)(CDK, command, { cwd: this.home, env: this.environment, maxBuffer: 2 ** 26 });
    return run.then(
      ({ stdout, stderr }) => ({ succeeded: true, printed: stdout + stderr }),
      ({ stdout, stderr }) => ({ succeeded: false, printed: stdout + stderr }),
    );
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
    const exit = once(this.server, 'exit');
    this.server.stdin?.end();
    await exit;
    rmSync(this.home, { recursive: true });
  }

  /**
   * The environment variables of the command. They contain no AWS account of this machine, and the emulator is the only
   * endpoint.
   */
  private get environment(): NodeJS.ProcessEnv {
    return {
      PATH: process.env.PATH,
      HOME: this.home,
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
