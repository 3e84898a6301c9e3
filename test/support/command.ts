import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

/** The standard output of a command. */
export async function printed(command: (args: string[]) => Promise<void>, ...args: string[]): Promise<string> {
  const log = jest.spyOn(console, 'log').mockImplementation(() => {});
  try {
    await command(args);
    return log.mock.calls.map(([text]) => String(text)).join('\n');
  } finally {
    log.mockRestore();
  }
}

/** A folder for the sample files of a test file. */
export function sampleFolder() {
  const folder = mkdtempSync(join(tmpdir(), 'samples-'));
  return {
    path: (name: string) => join(folder, name),
    /** Writes lines to a file. Compresses the file if its name ends with `.gz`. */
    file(name: string, lines: readonly string[]): string {
      const text = lines.map((line) => `${line}\n`).join('');
      writeFileSync(join(folder, name), name.endsWith('.gz') ? gzipSync(text) : text);
      return join(folder, name);
    },
  };
}

/** Events: one key has `busy` events, and each of `others` further keys has one event. */
export function events(busy: number, others: number): string[] {
  return Array.from({ length: busy + others }, (_, n) =>
    JSON.stringify({ account: n < busy ? 'busy' : `account-${n}`, id: `event-${n}` }),
  );
}
