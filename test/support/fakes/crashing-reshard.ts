import type { Clock, ReshardItemsReport } from '../../../lib/core';

/** How often each event happened in one case. Tests check that the cases contain enough faults. */
export interface PlayedReshard {
  crashes: number;
  lostAnswers: number;
  settled: number;
  moved: number;
}

/** Sends a request of one process. */
export type Send = <T>(request: () => Promise<T>) => Promise<T>;

/** The options of `reshardItems` in each process, except the options for the table. */
interface ReshardRun {
  segment: number;
  totalSegments: number;
  clock: Clock;
  random: () => number;
  attempts: number;
  concurrency: number;
  consistentRead: boolean;
  resumeFrom?: string;
  onProgress: (report: ReshardItemsReport) => void;
}

/**
 * Reshards the segments of a table with one process after another. A request can be throttled, late or lost, or its
 * response can be lost. A process crashes at a random moment, and the next process continues from the last saved resume
 * point.
 *
 * @param refusalOf returns the error of the service, or undefined, for a random number from 0 to below 1
 *
 * @param run runs one process, which sends its requests with `send`
 */
export async function reshardWithCrashes(
  { clock, random }: Pick<ReshardRun, 'clock' | 'random'>,
  refusalOf: (fate: number) => Error | undefined,
  run: (send: Send, options: ReshardRun) => Promise<ReshardItemsReport>,
): Promise<PlayedReshard> {
  const played: PlayedReshard = { crashes: 0, lostAnswers: 0, settled: 0, moved: 0 };
  let alive = 0;

  /** After a process has crashed, it receives no response, but some of its requests still arrive at the service. */
  const sendOf =
    (life: number): Send =>
    async (request) => {
      await clock.sleep(random() * 5);
      const fate = random();
      if (alive !== life && fate < 0.5) return forever();
      const refusal = refusalOf(fate);
      if (refusal !== undefined) throw refusal;
      if (fate < 0.1) throw named('TimeoutError', 'lost');
      if (fate < 0.13) {
        // The client receives an error, and the request arrives later.
        void clock.sleep(random() * 60).then(() => request().catch(() => undefined));
        throw named('TimeoutError', 'late');
      }
      const answer = await request();
      await clock.sleep(random() * 5);
      if (fate < 0.2) {
        played.lostAnswers += 1;
        throw named('TimeoutError', 'no answer');
      }
      return alive === life ? answer : forever();
    };

  const totalSegments = 1 + Math.floor(random() * 3);
  for (let segment = 0; segment < totalSegments; segment++) {
    let saved: ReshardItemsReport | undefined;
    do {
      const life = alive;
      const crashed = random() < 0.7 ? clock.sleep(random() * 150) : forever<void>();
      const running = run(sendOf(life), {
        segment,
        totalSegments,
        clock,
        random,
        attempts: 1_000,
        concurrency: 1 + Math.floor(random() * 6),
        consistentRead: random() < 0.5,
        ...(saved?.resumePoint && { resumeFrom: saved.resumePoint }),
        onProgress: (report) => {
          if (alive === life) saved = report;
        },
      });
      const end = await Promise.race([running, crashed.then(() => 'crashed' as const)]);
      if (end !== 'crashed') {
        saved = end;
        played.moved += end.outcomes.moved;
        played.settled += end.outcomes.settled;
      } else {
        played.crashes += 1;
        alive += 1;
      }
    } while (saved === undefined || saved.resumePoint !== undefined);
  }
  return played;
}

export function throttled(): Error {
  return named('ThrottlingException', 'too fast');
}

function named(name: string, message: string): Error {
  return Object.assign(new Error(message), { name });
}

function forever<T>(): Promise<T> {
  return new Promise(() => {});
}
