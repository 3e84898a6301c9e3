import { type Deferred, deferred } from '../../../lib/core/kernel/deferred';
import { EvenShardsError } from '../../../lib/core/kernel/errors';
import type { LocalFunction } from '../assembly/planned-function';
import { FunctionThread, type InvocationResult, type LogSink } from './function-thread';

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
  private readonly threads = new Set<FunctionThread>();
  private readonly idle: FunctionThread[] = [];
  private readonly waiting: Deferred<void>[] = [];
  private stopped = false;

  constructor(
    readonly definition: LocalFunction,
    private readonly environment: NodeJS.ProcessEnv,
    private readonly log?: LogSink,
  ) {}

  async invoke(payload: string, qualifier?: string): Promise<InvocationResult> {
    const thread = await this.acquire();
    try {
      return await thread.invoke(payload, qualifier);
    } finally {
      this.release(thread);
    }
  }

  async stop(): Promise<void> {
    this.stopped = true;
    // Resumes the waiting invocations, which then throw an error. After the stop, no other code would resume these
    // invocations.
    for (const turn of this.waiting.splice(0)) turn.resolve();
    await Promise.all([...this.threads].map((thread) => thread.stop()));
  }

  private async acquire(): Promise<FunctionThread> {
    for (;;) {
      if (this.stopped) throw new LocalStackStoppedError(this.definition.path);
      const thread = this.idle.pop() ?? this.start();
      if (thread?.alive) return thread;
      if (thread !== undefined) this.threads.delete(thread);
      else await this.turn();
    }
  }

  private turn(): Promise<void> {
    const turn = deferred();
    this.waiting.push(turn);
    return turn.promise;
  }

  private start(): FunctionThread | undefined {
    if (this.threads.size >= MAX_POOL) return undefined;
    const thread = new FunctionThread(this.definition, this.environment, this.log);
    this.threads.add(thread);
    return thread;
  }

  private release(thread: FunctionThread): void {
    if (thread.alive) this.idle.push(thread);
    else this.threads.delete(thread);
    this.waiting.shift()?.resolve();
  }
}
