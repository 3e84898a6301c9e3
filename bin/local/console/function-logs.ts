import type { LogSink } from '../functions/function-process';

/** The log keeps at least this many of the latest lines. */
const MAX_LINES = 500;

/** The latest log lines of all functions. */
export class FunctionLogs {
  private readonly lines: { path: string; line: string }[] = [];
  private forgotten = 0;

  readonly sink: LogSink = (path, line) => {
    this.lines.push({ path, line });
    if (this.lines.length <= 2 * MAX_LINES) return;
    this.forgotten += MAX_LINES;
    this.lines.splice(0, MAX_LINES);
  };

  /** The number of lines that were written until now. Pass this number to `since` later. */
  get end(): number {
    return this.forgotten + this.lines.length;
  }

  /** The lines that a function has written since `end` returned this number. */
  since(end: number, path: string): string[] {
    const since = this.lines.slice(Math.max(0, end - this.forgotten));
    return since.filter((written) => written.path === path).map(({ line }) => line);
  }
}
