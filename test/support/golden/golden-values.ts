import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fromText } from './json';

const GOLDEN = join(__dirname, '../../golden');

/** The folder of a format. */
export const folderOf = (format: string): string => format.replaceAll(' ', '-').toLowerCase();

/** The values of a format in all versions and of all releases, each with a name for a test. */
export function goldenValues<V>(format: string): [name: string, value: V][] {
  return readdirSync(join(GOLDEN, format)).flatMap((file) => {
    const { written } = fromText(readFileSync(join(GOLDEN, format, file), 'utf8')) as { written: Record<string, V> };
    const version = file.replace(/\.json$/, '');
    return Object.entries(written).map(([name, value]): [string, V] => [`${version}, ${name}`, value]);
  });
}
