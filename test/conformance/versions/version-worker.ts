import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { build } from 'esbuild';
import type { Endpoints } from '../../../bin/local/functions/lambda-environment';
import type { CallMessage, Calls, ResultMessage } from './serve';

/** `old` is the last release, and `new` is the working tree. */
export type Version = 'old' | 'new';

/** The folder of the package of a version. `npm run conformance versions` sets the variables. */
export function packageFolder(version: Version): string {
  const folder = version === 'old' ? process.env.LAST_RELEASE : process.env.CURRENT_PACKAGE;
  if (folder === undefined) throw new Error('run these tests with npm run conformance versions');
  return folder;
}

/**
 * A process that uses the package of one version. Its program is a TypeScript file of this folder that calls `serve`.
 */
export class VersionWorker<C extends Calls> {
  private readonly waiting = new Map<number, (message: ResultMessage) => void>();
  private calls = 0;

  private constructor(
    readonly version: Version,
    private readonly child: ChildProcess,
  ) {
    child.on('message', (message: ResultMessage) => {
      this.waiting.get(message.id)?.(message);
      this.waiting.delete(message.id);
    });
    child.on('exit', (code, signal) => {
      const error = { name: 'WorkerEnded', message: `the process ended with ${signal ?? code}` };
      for (const [id, settle] of this.waiting) settle({ id, error });
      this.waiting.clear();
    });
  }

  static async start<C extends Calls>(
    version: Version,
    program: string,
    endpoints: Endpoints,
  ): Promise<VersionWorker<C>> {
    const child = fork(program, [packageFolder(version), JSON.stringify(endpoints)], {
      serialization: 'advanced',
      env: { PATH: process.env.PATH, AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true' },
      execArgv: ['--enable-source-maps'],
    });
    const ended = once(child, 'exit').then(([code]) => {
      throw new Error(`the ${version} worker ended with ${code} before it was ready`);
    });
    ended.catch(() => {});
    await Promise.race([once(child, 'message'), ended]);
    return new VersionWorker<C>(version, child);
  }

  async call<N extends keyof C & string>(name: N, input: Parameters<C[N]>[0]): Promise<Awaited<ReturnType<C[N]>>> {
    this.calls += 1;
    const id = this.calls;
    const { result, error } = await new Promise<ResultMessage>((resolve) => {
      this.waiting.set(id, resolve);
      this.child.send({ id, name, input } satisfies CallMessage);
    });
    if (error === undefined) return result as Awaited<ReturnType<C[N]>>;
    const { stack, ...rest } = error;
    throw Object.assign(new Error(`${name} of the ${this.version} version failed: ${stack ?? error.message}`), rest);
  }

  /** Ends the process without notice, like a crash. */
  async stop(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const ended = once(this.child, 'exit');
    this.child.kill('SIGKILL');
    await ended;
  }
}

/** Bundles a program of this folder. Its packages stay external, so that it finds them in node_modules. */
export async function bundleProgram(name: string): Promise<string> {
  const outfile = join(process.cwd(), 'dist/test/conformance/versions', `${name}.js`);
  await build({
    entryPoints: [join(__dirname, `${name}.ts`)],
    outfile,
    bundle: true,
    packages: 'external',
    platform: 'node',
    target: 'node20',
    sourcemap: 'inline',
  });
  return outfile;
}
