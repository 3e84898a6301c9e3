import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { InvalidInputError } from './sample-error';

/** A line of the input. */
export type UserEvent = Record<string, unknown>;

/** Reads files of newline-delimited JSON, gzipped if named so. Empty lines are skipped. */
export async function readUserEvents(files: readonly string[]): Promise<UserEvent[]> {
  const events: UserEvent[] = [];
  for await (const { event } of userEvents(files)) events.push(event);
  return events;
}

/** An event, where it stands, and how long its line is. */
export interface EventLine {
  event: UserEvent;
  file: string;
  line: number;
  bytes: number;
}

/** The same, one by one, so that a file may be larger than memory. */
export async function* userEvents(files: readonly string[]): AsyncGenerator<EventLine> {
  for (const file of files) {
    let line = 0;
    let empty = true;
    for await (const text of linesOf(file)) {
      line += 1;
      if (text.trim() === '') continue;
      empty = false;
      yield { event: parseLine(file, line, text), file, line, bytes: Buffer.byteLength(text) };
    }
    if (empty) throw new InvalidInputError(`${file} holds no event`);
  }
}

async function* linesOf(file: string): AsyncGenerator<string> {
  try {
    yield* createInterface({ input: open(file), crlfDelay: Number.POSITIVE_INFINITY });
  } catch (error) {
    throw new InvalidInputError(`cannot read ${file}: ${(error as Error).message}`);
  }
}

/** A field of an event that must be there as text, or as a number. */
export function textField(event: UserEvent, field: string, position: number): string {
  const value = event[field];
  if ((typeof value === 'string' && value !== '') || typeof value === 'number') return String(value);
  throw new InvalidInputError(
    `event ${position + 1}: field ${field} must be a non-empty string or a number, got ${JSON.stringify(value)}`,
  );
}

function open(file: string): Readable {
  const bytes = createReadStream(file);
  if (!file.endsWith('.gz')) return bytes;
  const text = createGunzip();
  bytes.on('error', (error) => text.destroy(error));
  return bytes.pipe(text);
}

function parseLine(file: string, number: number, line: string): UserEvent {
  try {
    const event: unknown = JSON.parse(line);
    if (typeof event === 'object' && event !== null && !Array.isArray(event)) return event as UserEvent;
  } catch {
    // Reported below: the parser's own message may quote the data.
  }
  throw new InvalidInputError(`${file}, line ${number}: must be a JSON object`);
}
