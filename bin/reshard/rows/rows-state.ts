import { accessSync, constants, existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { UsageError } from '../../flags';
import { fields, optional, type Shape, text } from '../../local/assembly/json-shape';
import type { RowsReport } from './rows-report';

const count: Shape = (json, path) => (Number.isSafeInteger(json) ? undefined : `${path} must be a whole number`);

const STATE = fields({
  rowsScanned: count,
  strays: count,
  hidden: count,
  resumePoint: text,
  outcomes: optional(fields({ moved: count, settled: count, refused: count })),
  unverified: optional(count),
});

/**
 * The saved report of a stopped run; undefined without a saved report.
 *
 * @throws UsageError if the file is not a saved report, or if it cannot be written
 */
export function stateOf(command: string, file: string | undefined): RowsReport | undefined {
  if (file === undefined) return undefined;
  try {
    accessSync(dirname(file), constants.W_OK);
  } catch (error) {
    throw new UsageError(`--state ${file} cannot be written: ${(error as Error).message}`, command);
  }
  if (!existsSync(file)) return undefined;
  try {
    const state: unknown = JSON.parse(readFileSync(file, 'utf8'));
    const problem = STATE(state, '');
    if (problem === undefined) return state as RowsReport;
    throw new Error(problem);
  } catch (error) {
    throw new UsageError(`--state ${file} is not a saved report of a run: ${(error as Error).message}`, command);
  }
}

/** Replaces the file in one step. */
export function keepState(file: string, report: RowsReport): void {
  if (report.resumePoint === undefined) return;
  writeFileSync(`${file}.new`, `${JSON.stringify(report)}\n`);
  renameSync(`${file}.new`, file);
}

export function forgetState(file: string): void {
  rmSync(file, { force: true });
}
