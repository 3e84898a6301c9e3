import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** Seen from the bundled command line, from the sources, and from programs that scripts/run-bundled.mjs has put into dist. */
const PLACES = ['local', '../../dist/bin/local', '../../bin/local', '../../../bin/local'];

/** A file that threads load, where the build has put it: its room and its name. */
export function threadFile(name: string): string {
  const files = PLACES.map((place) => join(__dirname, place, `${name}.js`));
  return files.find(existsSync) ?? files[0]!;
}
