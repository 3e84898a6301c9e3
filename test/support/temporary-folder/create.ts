import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Gives a test run a temporary folder of its own: the CDK leaves an assembly behind for every app that is synthesized. */
// biome-ignore lint/style/noDefaultExport: jest takes the default export
export default async function createTemporaryFolder(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'cdk-even-shards-'));
  for (const variable of ['TMPDIR', 'TMP', 'TEMP']) process.env[variable] = folder;
}
