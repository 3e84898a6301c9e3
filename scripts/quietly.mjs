// Runs a command, and prints what it says only if it fails: node quietly.mjs <command> [arguments].
import { spawnSync } from 'node:child_process';

const [command, ...commandArguments] = process.argv.slice(2);
const { status, error, stdout, stderr } = spawnSync(command, commandArguments, {
  encoding: 'utf8',
  maxBuffer: Number.POSITIVE_INFINITY,
  shell: process.platform === 'win32',
});
if (status !== 0) console.error(error?.message ?? `${stdout}${stderr}`);
process.exit(status ?? 1);
