import { existsSync } from 'node:fs';
import { join } from 'node:path';

/**
 * The places of the files, relative to the bundled command line, to the sources, and to programs that
 * scripts/run-bundled.mjs has put into dist.
 */
const PLACES = ['local', '../../dist/bin/local', '../../bin/local', '../../../bin/local'];

/** The file that a thread loads, wherever the build has put it. `name` is its room and its name. */
export function threadFile(name: string): string {
  const files = PLACES.map((place) => join(__dirname, place, `${name}.js`));
  return files.find(existsSync) ?? files[0]!;
}
