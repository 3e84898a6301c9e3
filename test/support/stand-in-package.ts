import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const ROOT = join(__dirname, '../..');
/** jest.config.mjs resolves this package to this folder in unit tests. */
const STAND_IN = join(ROOT, 'node_modules/.cache/stand-in-package');

/** Creates a package with an empty bundle of each function, so that the unit tests of constructs need no build. */
// biome-ignore lint/style/noDefaultExport: jest takes the default export
export default async function createStandInPackage(): Promise<void> {
  const entries = await readdir(join(ROOT, 'lambda'), { withFileTypes: true });
  for (const { name } of entries.filter((entry) => entry.isDirectory())) {
    const folder = join(STAND_IN, 'dist/lambda', name);
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, 'index.js'), `// ${name}\n`);
  }
  await writeFile(join(STAND_IN, 'package.json'), '{}');
}
