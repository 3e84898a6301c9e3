import type { LogSink } from '../functions/function-thread';

/** The most lines of a log that the local console shows. */
const MOST_LINES = 500;

/** The last lines that functions have written. */
export class FunctionLogs {
  private readonly lines: { path: string; line: string }[] = [];
  private forgotten = 0;

  readonly sink: LogSink = (path, line) => {
    this.lines.push({ path, line });
    if (this.lines.length <= 2 * MOST_LINES) return;
    this.forgotten += MOST_LINES;
    this.lines.splice(0, MOST_LINES);
  };

  /** Where the log ends now. */
  get end(): number {
    return this.forgotten + this.lines.length;
  }

  /** The lines that one function has written since then. */
  since(end: number, path: string): string[] {
    const since = this.lines.slice(Math.max(0, end - this.forgotten));
    return since.filter((written) => written.path === path).map(({ line }) => line);
  }
}
