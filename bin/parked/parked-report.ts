import type { ParkedKeyReport } from '../../lib/core/consumer';

/** A parked key as the command prints it. */
export interface PrintedKey extends ParkedKeyReport {
  /** The data of the first record that waits, as text. Present with `--payload`. */
  payload?: string | undefined;
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** The keys as lines for a terminal. The key that has been blocked for the longest time is first. */
export function parkedReport(keys: readonly PrintedKey[], now: number): string[] {
  if (keys.length === 0) return ['no key is parked'];
  const dead = keys.filter((key) => key.dead).length;
  const total = `${keys.length} ${keys.length === 1 ? 'key is' : 'keys are'} parked, ${dead} dead`;
  return [total, ...keys.flatMap((key) => linesOf(key, now))];
}

function linesOf({ partitionKey, records, since, tries, lastError, dead, payload }: PrintedKey, now: number): string[] {
  const waits = `${records} ${records === 1 ? 'record waits' : 'records wait'}`;
  const held = `for ${ageText(now - since.getTime())}, ${tries} ${tries === 1 ? 'try' : 'tries'}`;
  const lines = ['', `${partitionKey}${dead ? '  DEAD' : ''}`, `  ${waits} ${held}`];
  if (lastError !== undefined) lines.push(`  ${lastError}`);
  if (payload !== undefined) lines.push(`  ${payload}`);
  return lines;
}

function ageText(ms: number): string {
  if (ms < 2 * MINUTE_MS) return `${Math.max(0, Math.round(ms / 1_000))} s`;
  if (ms < 2 * HOUR_MS) return `${Math.round(ms / MINUTE_MS)} min`;
  return ms < 2 * DAY_MS ? `${Math.round(ms / HOUR_MS)} h` : `${Math.round(ms / DAY_MS)} days`;
}
