import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';

/** Takes away the folder that `create` made, with all that tests left in it: a database that has just been stopped may still write there. */
// biome-ignore lint/style/noDefaultExport: jest takes the default export
export default async function removeTemporaryFolder(): Promise<void> {
  await rm(tmpdir(), { recursive: true, force: true, maxRetries: 5 });
}
