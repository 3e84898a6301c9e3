import type { LogSink } from '../functions/function-thread';

/** A window shows the end of a long log. */
const MOST_LINES = 500;

/** What functions have written lately. */
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

  /** What one function has written since. */
  since(end: number, path: string): string[] {
    const since = this.lines.slice(Math.max(0, end - this.forgotten));
    return since.filter((written) => written.path === path).map(({ line }) => line);
  }
}
