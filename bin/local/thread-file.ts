import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** A file that threads load: next to the bundled CLI, or for sources run as they are, where the build has put it. */
export function threadFile(name: string): string {
  const bundled = join(__dirname, `local/${name}.js`);
  return existsSync(bundled) ? bundled : join(__dirname, `../../dist/bin/local/${name}.js`);
}
