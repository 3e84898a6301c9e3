import type { LocalStack } from '../run-local';
import { checkedTarget, type LoadOptions, type LoadResult, runLoad } from './load';

/** A load that was put or is being put. */
export interface LoadRun extends LoadOptions {
  /** How many have been put. */
  readonly put: number;
  readonly isStopped: boolean;
  /** Absent while it is put, and if it has failed. */
  readonly result?: LoadResult;
  /** Why it has failed. */
  readonly problem?: string;
}

/** A window shows the last ones. */
const MOST_RUNS = 20;

/** The loads since the start: a page that is loaded again while one runs finds it, and what came of it. */
export class LoadRuns {
  private runs: {
    readonly options: LoadOptions;
    readonly stopped: AbortController;
    put: number;
    result?: LoadResult;
    problem?: string;
  }[] = [];

  constructor(private readonly stack: LocalStack) {}

  /** The last one first. */
  get latest(): LoadRun[] {
    return this.runs.map(({ options, stopped: { signal }, ...outcome }) => ({
      ...options,
      ...outcome,
      isStopped: signal.aborted,
    }));
  }

  /** @throws InvalidArgumentError before anything is put */
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

  /** Stops all that is being put. */
  stop(): void {
    for (const { stopped, result, problem } of this.runs) {
      if (result === undefined && problem === undefined) stopped.abort();
    }
  }
}
