import { createReadStream } from 'node:fs';
import type { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { isRecord } from '../../lib/core/kernel/checks';
import { describeValue } from '../../lib/core/kernel/errors';
import { InvalidInputError } from '../invalid-input-error';

/** A line of the input. */
type UserEvent = Record<string, unknown>;

/**
 * The maximum size of all events of a sample: the command and the emulators keep all events in memory.
 */
const MAX_EVENTS_MB = 256;

/** Reads files of newline-delimited JSON, gzipped if named .gz. Empty lines are skipped. */
export async function readUserEvents(files: readonly string[]): Promise<UserEvent[]> {
  const events: UserEvent[] = [];
  let left = MAX_EVENTS_MB * 2 ** 20;
  for await (const { event, text, file, line } of userEvents(files)) {
    left -= Buffer.byteLength(text);
    if (left < 0)
      throw new InvalidInputError(`${file}, line ${line}: all events must have at most ${MAX_EVENTS_MB} MB`);
    events.push(event);
  }
  return events;
}

/** An event with its file, its line number, and the text of the line. */
export interface EventLine {
  event: UserEvent;
  file: string;
  line: number;
  text: string;
}

/** Reads the events as a stream, so that a file may be larger than memory. */
export async function* userEvents(files: readonly string[]): AsyncGenerator<EventLine> {
  for (const file of files) {
    let line = 0;
    let empty = true;
    for await (const text of linesOf(file)) {
      line += 1;
      if (text.trim() === '') continue;
      empty = false;
      yield { event: parseLine(file, line, text), file, line, text: text.replace(/\r$/, '') };
    }
    if (empty) throw new InvalidInputError(`${file} holds no event`);
  }
}

/** The maximum size of a line. Even with JSON escapes, a record of 10 MiB is never longer. */
const MAX_LINE_MB = 64;

/** The lines of a file. A line that is too long for a record is rejected before its end. */
async function* linesOf(file: string): AsyncGenerator<string> {
  // The decoder removes a byte order mark: editors on Windows write it, and JSON does not allow it.
  const decoder = new TextDecoder();
  let pieces: string[] = [];
  let length = 0;
  let line = 1;
  try {
    for await (const chunk of open(file)) {
      const [first = '', ...others] = decoder.decode(chunk, { stream: true }).split('\n');
      pieces.push(first);
      length += first.length;
      if (length > MAX_LINE_MB * 2 ** 20) {
        throw new InvalidInputError(`${file}, line ${line}: must be at most ${MAX_LINE_MB} MB long`);
      }
      if (others.length === 0) continue;
      const last = others.pop()!;
      yield pieces.join('');
      yield* others;
      line += others.length + 1;
      pieces = [last];
      length = last.length;
    }
  } catch (error) {
    if (error instanceof InvalidInputError) throw error;
    throw new InvalidInputError(`cannot read ${file}: ${(error as Error).message}`);
  }
  yield pieces.join('') + decoder.decode();
}

/** A field of an event, which must be a text or a number. */
export function textField(event: UserEvent, field: string, position: number): string {
  const value = Object.hasOwn(event, field) ? event[field] : undefined;
  if ((typeof value === 'string' && value !== '') || typeof value === 'number') return String(value);
  throw new InvalidInputError(
    `event ${position + 1}: field ${field} must be a non-empty string or a number, got ${describeValue(value)}`,
  );
}

/** The file name that means standard input. */
const STANDARD_INPUT = '-';

function open(file: string): Readable {
  if (file === STANDARD_INPUT) return process.stdin;
  const bytes = createReadStream(file);
  if (!file.endsWith('.gz')) return bytes;
  const text = createGunzip();
  bytes.on('error', (error) => text.destroy(error));
  return bytes.pipe(text);
}

function parseLine(file: string, number: number, line: string): UserEvent {
  if (line.startsWith('$ion_1_0')) {
    throw new InvalidInputError(
      `${file}, line ${number}: is Amazon Ion. Export the table with the format DYNAMODB_JSON`,
    );
  }
  try {
    const event: unknown = JSON.parse(line);
    if (isRecord(event)) return event;
  } catch {
    // The error below replaces the message of the parser, because that message may quote the data.
  }
  throw new InvalidInputError(`${file}, line ${number}: must be a JSON object`);
}
