import { type Deferred, deferred } from '../../../lib/core/kernel/deferred';
import { EvenShardsError } from '../../../lib/core/kernel/errors';
import type { LocalFunction } from '../assembly/planned-function';
import { FunctionProcess, type FunctionSinks, type InvocationResult, notSet } from './function-process';
import { LATEST_VERSION, ofVersion, versionOf } from './lambda-environment';

/** A function was invoked after its stack was stopped. */
export class LocalStackStoppedError extends EvenShardsError {
  constructor(functionPath: string) {
    super('LOCAL_STACK_STOPPED', `${functionPath} was not invoked: the local stack is stopped`);
  }
}

/** The maximum number of instances of one function. Further invocations wait for an idle instance. */
const MAX_POOL = 8;

/**
 * The instances of one function. Idle instances are used again. If all instances are busy, the pool starts a new
 * instance, up to its maximum size.
 */
export class FunctionPool {
  private readonly instances = new Set<FunctionProcess>();
  private readonly idle: FunctionProcess[] = [];
  private readonly waiting: Deferred<void>[] = [];
  private readonly published = new Map<string, FunctionPool>();
  private stopped = false;

  constructor(
    readonly definition: LocalFunction,
    private readonly environment: NodeJS.ProcessEnv,
    private readonly sinks: FunctionSinks = {},
    private readonly version = LATEST_VERSION,
  ) {}

  async invoke(payload: string, qualifier?: string): Promise<InvocationResult> {
    const version = versionOf(this.definition, qualifier) ?? this.version;
    if (version !== this.version) return this.ofVersion(version).invoke(payload, qualifier);
    const instance = await this.acquire();
    try {
      const result = await instance.invoke(payload, qualifier);
      return this.withUnset(result);
    } finally {
      this.release(instance);
    }
  }

  async stop(): Promise<void> {
    this.stopped = true;
    // Resumes the waiting invocations, which then throw an error. After the stop, no other code would resume these
    // invocations.
    for (const turn of this.waiting.splice(0)) turn.resolve();
    await Promise.all([...this.instances, ...this.published.values()].map((each) => each.stop()));
  }

  /** The instances of a published version. As on AWS, an instance runs only one version. */
  private ofVersion(version: string): FunctionPool {
    const pool =
      this.published.get(version) ?? new FunctionPool(this.definition, this.environment, this.sinks, version);
    pool.stopped = this.stopped;
    this.published.set(version, pool);
    return pool;
  }

  /**
   * A missing variable can be the reason why a function throws an error, or returns an error of an HTTP server, as
   * handlers of API Gateway do.
   */
  private withUnset(result: InvocationResult): InvocationResult {
    const { path, unset } = this.definition;
    const names = Object.keys(unset);
    if (names.length === 0) return result;
    if (result.functionError !== undefined) return { ...result, unset: names };
    if (/"statusCode":5\d\d\b/.test(result.payload)) {
      this.sinks.reportOnce?.(`${path} unset`, `${path} responds with an error. ${notSet(names)}`);
    }
    return result;
  }

  private async acquire(): Promise<FunctionProcess> {
    for (;;) {
      if (this.stopped) throw new LocalStackStoppedError(this.definition.path);
      const instance = this.idle.pop() ?? this.start();
      if (instance?.alive) return instance;
      if (instance !== undefined) this.instances.delete(instance);
      else await this.turn();
    }
  }

  private turn(): Promise<void> {
    const turn = deferred();
    this.waiting.push(turn);
    return turn.promise;
  }

  private start(): FunctionProcess | undefined {
    if (this.instances.size >= MAX_POOL) return undefined;
    const instance = new FunctionProcess(
      this.definition,
      { ...this.environment, ...ofVersion(this.version) },
      this.sinks,
    );
    this.instances.add(instance);
    return instance;
  }

  private release(instance: FunctionProcess): void {
    if (instance.alive) this.idle.push(instance);
    else this.instances.delete(instance);
    this.waiting.shift()?.resolve();
  }
}
