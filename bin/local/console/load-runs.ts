import type { LocalStack } from '../run-local';
import { checkedTarget, type LoadOptions, type LoadResult, runLoad } from './load';

/** A running or finished load. */
export interface LoadRun extends LoadOptions {
  /** How many records or items the load has put. */
  readonly put: number;
  readonly isStopped: boolean;
  /** Absent while the load runs, and if the load has failed. */
  readonly result?: LoadResult;
  /** The error message of a failed load. */
  readonly problem?: string;
}

/** The maximum number of runs that the local console shows. */
const MOST_RUNS = 20;

/** The loads since the start. If a page is reloaded while a load runs, it can still show the load and its result. */
export class LoadRuns {
  private runs: {
    readonly options: LoadOptions;
    readonly stopped: AbortController;
    put: number;
    result?: LoadResult;
    problem?: string;
  }[] = [];

  constructor(private readonly stack: LocalStack) {}

  /** The latest load first. */
  get latest(): LoadRun[] {
    return this.runs.map(({ options, stopped: { signal }, ...outcome }) => ({
      ...options,
      ...outcome,
      isStopped: signal.aborted,
    }));
  }

  /** @throws InvalidArgumentError for an invalid option, before the load puts the first record or item */
  async start(options: LoadOptions): Promise<LoadResult> {
    const { target } = checkedTarget(this.stack, options);
    const stopped = new AbortController();
    const run: (typeof this.runs)[number] = { options: { ...options, target }, stopped, put: 0 };
    this.runs = [run, ...this.runs].slice(0, MOST_RUNS);
    const onProgress = (put: number) => {
      run.put = put;
    };
    try {
      run.result = await runLoad(this.stack, options, { signal: stopped.signal, onProgress });
      return run.result;
    } catch (error) {
      run.problem = (error as Error).message;
      throw error;
    }
  }

  stop(): void {
    for (const { stopped, result, problem } of this.runs) {
      if (result === undefined && problem === undefined) stopped.abort();
    }
  }
}
