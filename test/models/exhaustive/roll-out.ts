import type { World } from './world';

/** A writer or a reader, with the shard counts that it was given last. */
export interface Process {
  readonly name: string;
  stage: number;
  /** The stage whose counts the write in flight was made with. */
  inFlight?: number;
}

/** Deployments that reach processes in any order. The next step begins when the one before is complete everywhere. */
export class RollOut {
  private onProgress = (): void => {};

  constructor(
    private readonly world: World,
    private readonly processes: readonly Process[],
  ) {}

  /** From now on each process may take this stage. Resolves when all have, and no earlier write is in flight. */
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

  /** A write of a process: it is sent with the counts of the stage that the process is in, and arrives later. */
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
