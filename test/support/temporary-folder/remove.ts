import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';

/** Deletes the folder that `create` made, with all files. It retries, because a database that stops may still write there. */
// biome-ignore lint/style/noDefaultExport: jest requires a default export
export default async function removeTemporaryFolder(): Promise<void> {
  await rm(tmpdir(), { recursive: true, force: true, maxRetries: 5 });
}
