/**
 * Writes and verifies the checksums of the packages of a release. The other jobs of the workflow attest and publish
 * only the files of the job "package".
 *
 *   node release/checksums.mjs write FOLDER             writes FOLDER/SHA256SUMS, and prints its checksum
 *   node release/checksums.mjs verify FOLDER CHECKSUM   fails if SHA256SUMS has another checksum, or if a file is changed, missing or new
 */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';

const LIST = 'SHA256SUMS';
/** The files that the job "package" uploads. */
const UPLOADED = ['bom.json', 'languages'];

const [action, folder, expected] = process.argv.slice(2);
const list = join(folder, LIST);

if (action === 'write') {
  const lines = files().map((file) => `${checksum(join(folder, file))}  ${file}\n`);
  if (lines.length === 0) fail(`${folder} has no ${UPLOADED.join(' and no ')}`);
  writeFileSync(list, lines.join(''));
  console.log(checksum(list));
} else if (action === 'verify') {
  if (checksum(list) !== expected) fail(`${LIST} is not the one that was built: its checksum is not ${expected}`);
  const built = new Map(
    readFileSync(list, 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => [line.slice(66), line.slice(0, 64)]),
  );
  const here = files();
  for (const file of here) if (!built.has(file)) fail(`${file} was not built`);
  for (const [file, sum] of built) {
    if (!here.includes(file)) fail(`${file} is missing`);
    if (checksum(join(folder, file)) !== sum) fail(`${file} is not the one that was built`);
  }
  console.log(`${built.size} files are the ones that were built`);
} else {
  fail('usage: node release/checksums.mjs write FOLDER, or verify FOLDER CHECKSUM');
}

/** The files that the action upload-artifact uploads: all except hidden files. */
function files() {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).replaceAll('\\', '/'))
    .filter((file) => UPLOADED.includes(file.split('/')[0]) && !/(^|\/)\./.test(file))
    .sort();
}

function checksum(file) {
  return createHash('sha256').update(readFileSync(file)).digest('hex');
}

function fail(problem) {
  console.error(problem);
  process.exit(1);
}
