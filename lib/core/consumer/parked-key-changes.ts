import { EvenShardsError } from '../kernel/errors';
import { OnceRepeatedError } from './consumer-errors';
import { type ConsumerSettings, LONGEST_RETRY_MS } from './consumer-options';
import { highestNumbers } from './handled-positions';
import { type ParkedKey, type ParkedRecord, parkedKeyReport } from './parking-store';

const MAX_ERROR_CHARACTERS = 300;

export function newParkedKey(partitionKey: string, now: number): ParkedKey {
  return {
    partitionKey,
    first: 0,
    next: 0,
    parkedUpTo: {},
    since: now,
    tries: 0,
    retries: 0,
    dueAt: now,
    dead: false,
  };
}

export function withAppended(key: ParkedKey, records: readonly ParkedRecord[]): ParkedKey {
  const parkedUpTo = records.reduce((before, { positions }) => highestNumbers(before, positions), key.parkedUpTo);
  return { ...key, next: key.next + records.length, parkedUpTo };
}

/** Returns the parked key without the records whose numbers are below `first`, because these records were handled. */
export function afterDone(key: ParkedKey, first: number, now: number): ParkedKey {
  if (first <= key.first) return key;
  const { lastError: _, ...rest } = key;
  return { ...rest, first, since: now, tries: 0, retries: 0, dueAt: now };
}

interface Failure {
  tries: number;
  error: unknown;
  isReplay: boolean;
  /** The shortest wait before the next replay, in milliseconds. */
  minWaitMs: number;
}

/** The key after a failed attempt at its first record. */
export function afterFailure(
  key: ParkedKey,
  { tries, error, isReplay, minWaitMs }: Failure,
  { timeOfDay, retryMs, random, maxTries, maxAgeMs }: ConsumerSettings,
): ParkedKey {
  const now = timeOfDay();
  const retries = key.retries + (isReplay ? 1 : 0);
  const delayMs = Math.min(LONGEST_RETRY_MS, retryMs * 2 ** retries) * (0.5 + random() / 2);
  const dead = key.dead || mayBePartlyApplied(error) || tries >= maxTries || now - key.since >= maxAgeMs;
  return {
    ...key,
    tries,
    retries,
    dueAt: now + Math.round(Math.max(delayMs, minWaitMs)),
    dead,
    lastError: errorText(error),
  };
}

/**
 * Whether only a part of the record's effects may have been applied. A replay would not apply the missing effects, because it
 * would treat the record as a duplicate.
 */
export function mayBePartlyApplied(error: unknown): boolean {
  try {
    return error instanceof OnceRepeatedError;
  } catch {
    // A handler may throw anything, even a value that cannot be read.
    return false;
  }
}

export function notifyIfDead(before: ParkedKey | undefined, after: ParkedKey, { onDead }: ConsumerSettings): void {
  if (after.dead && !before?.dead) onDead(parkedKeyReport(after));
}

function errorText(error: unknown): string {
  try {
    return textOf(error).slice(0, MAX_ERROR_CHARACTERS);
  } catch {
    return 'an error that cannot be read';
  }
}

function textOf(error: unknown): string {
  if (error instanceof EvenShardsError) return `${error.name}: ${error.summary}`;
  if (error instanceof Error) return `${error.name}: ${error.message}`;
  return typeof error === 'string' ? error : `${typeof error}: not an Error`;
}
