import type { LocalStack } from '../run-local';
import { checkedTarget, type LoadOptions, type LoadResult, runLoad } from './load';

/** A load that was put or is being put. */
export interface LoadRun extends LoadOptions {
  /** Absent while it is put, and if it has failed. */
  readonly result?: LoadResult;
  /** Why it has failed. */
  readonly problem?: string;
}

/** A window shows the last ones. */
const MOST_RUNS = 20;

/** The loads since the start: a page that is loaded again while one runs finds it, and what came of it. */
export class LoadRuns {
  private runs: { readonly options: LoadOptions; result?: LoadResult; problem?: string }[] = [];

  constructor(private readonly stack: LocalStack) {}

  /** The last one first. */
  get latest(): LoadRun[] {
    return this.runs.map(({ options, ...outcome }) => ({ ...options, ...outcome }));
  }

  /** @throws InvalidArgumentError before anything is put */
  async start(options: LoadOptions): Promise<LoadResult> {
    const { target } = checkedTarget(this.stack, options);
    const run: (typeof this.runs)[number] = { options: { ...options, target } };
    this.runs = [run, ...this.runs].slice(0, MOST_RUNS);
    try {
      run.result = await runLoad(this.stack, options);
      return run.result;
    } catch (error) {
      run.problem = (error as Error).message;
      throw error;
    }
  }
}
