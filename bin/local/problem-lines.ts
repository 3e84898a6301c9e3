import { counted } from '../plain-text';

/** Reports a problem. `source` identifies what failed, such as an event source mapping. */
export type ReportProblem = (source: string, line: string) => void;

/** The time after a line in which further problems of the same source are only counted. */
const QUIET_MS = 10_000;

/** Prints the first problem of each source, and then at most one problem in ten seconds, with the number in between. */
export function problemLines(print: (line: string) => void, now = () => performance.now()): ReportProblem {
  const sources = new Map<string, { readonly printedAt: number; unprinted: number }>();
  return (source, line) => {
    const before = sources.get(source);
    if (before !== undefined && now() - before.printedAt < QUIET_MS) {
      before.unprinted += 1;
      return;
    }
    sources.set(source, { printedAt: now(), unprinted: 0 });
    print(before?.unprinted ? `${line} (after ${counted(before.unprinted, 'problem')} without a line)` : line);
  };
}

/** Prints only the first problem of each source. */
export function firstProblemLines(print: (line: string) => void): ReportProblem {
  const sources = new Set<string>();
  return (source, line) => {
    if (!sources.has(source)) print(line);
    sources.add(source);
  };
}
