import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { FuzzCase } from './fuzz-case';

/** The watchdog counts only seconds in which this process ran, so that it reports no hang after the process was suspended. */
const SECOND_MS = 1_000;

/** Checks that every case ends in time. */
export class Watchdog {
  private readonly beats = new Int32Array(new SharedArrayBuffer(4));
  private readonly heart: NodeJS.Timeout;
  private readonly watched = new Map<FuzzCase, { secondsLeft: number; giveUp: () => void }>();
  /** Checks that the main thread runs, because an endless loop would stop every timer. */
  private readonly thread: Worker;

  constructor(private readonly mostSeconds: number) {
    this.thread = new Worker(join(process.cwd(), 'test/models/fuzz/watchdog-thread.mjs'), {
      workerData: { beats: this.beats, mostSeconds },
    });
    this.heart = setInterval(() => this.beat(), SECOND_MS);
  }

  /** @throws if a case exceeds its time limit */
  async watch<T>(fuzzCase: FuzzCase, work: Promise<T>): Promise<T> {
    const givenUp = new Promise<never>((_, reject) => {
      const giveUp = () =>
        reject(new Error(`the case must end within ${this.mostSeconds} s, its current action is: ${fuzzCase.doing}`));
      this.watched.set(fuzzCase, { secondsLeft: this.mostSeconds, giveUp });
    });
    this.thread.postMessage({ begun: fuzzCase.command });
    try {
      return await Promise.race([work, givenUp]);
    } finally {
      this.watched.delete(fuzzCase);
      this.thread.postMessage({ ended: fuzzCase.command });
    }
  }

  async stop(): Promise<void> {
    clearInterval(this.heart);
    await this.thread.terminate();
  }

  private beat(): void {
    Atomics.add(this.beats, 0, 1);
    for (const watched of this.watched.values()) {
      watched.secondsLeft -= 1;
      if (watched.secondsLeft <= 0) watched.giveUp();
    }
  }
}
