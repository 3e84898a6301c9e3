import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Creates a temporary folder for a test run, because the CDK does not delete the assemblies of synthesized apps. */
// biome-ignore lint/style/noDefaultExport: jest takes the default export
export default async function createTemporaryFolder(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'cdk-even-shards-'));
  for (const variable of ['TMPDIR', 'TMP', 'TEMP']) process.env[variable] = folder;
}
