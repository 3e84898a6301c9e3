import { existsSync } from 'node:fs';
import { join } from 'node:path';

/**
 * The folders of the files, relative to the bundled command, to the sources, and to programs that
 * scripts/run-bundled.mjs writes to dist.
 */
const PLACES = ['local', '../../dist/bin/local', '../../bin/local', '../../../bin/local'];

/** The path of a file that a thread loads. `name` is its folder and its name without an extension. */
export function threadFile(name: string): string {
  const files = PLACES.map((place) => join(__dirname, place, `${name}.js`));
  return files.find(existsSync) ?? files[0]!;
}
