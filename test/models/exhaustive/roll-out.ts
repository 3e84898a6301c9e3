import type { World } from './world';

/** A writer or a reader with its current shard counts. */
export interface Process {
  readonly name: string;
  stage: number;
  /** The stage of the write in flight. */
  inFlight?: number;
}

/** Deployments that reach the processes in any order. The next deployment starts when every process has the previous stage. */
export class RollOut {
  private onProgress = (): void => {};

  constructor(
    private readonly world: World,
    private readonly processes: readonly Process[],
  ) {}

  /**
   * Lets each process switch to this stage. Resolves when all processes have switched, and no write with earlier counts is in
   * flight.
   */
  deploy(stage: number): Promise<void> {
    for (const process of this.processes) {
      this.world.offer(`${process.name} takes stage ${stage}`, { writes: [process.name] }, () => {
        process.stage = stage;
        this.onProgress();
      });
    }
    return new Promise((resolve) => {
      this.onProgress = () => {
        const isThere = (process: Process) => Math.min(process.stage, process.inFlight ?? stage) >= stage;
        if (this.processes.every(isThere)) resolve();
      };
    });
  }

  /** Sends a write with the counts of the current stage of the process. The write arrives later. */
  async write(process: Process, request: string, arrive: (stage: number) => void): Promise<void> {
    await this.world.answer(`${process.name} sends ${request}`, { writes: [process.name] });
    const { stage } = process;
    process.inFlight = stage;
    await this.world.answer(`${request} of ${process.name} arrives`, { writes: [process.name, 'table'] });
    process.inFlight = undefined;
    arrive(stage);
    this.onProgress();
  }
}
