import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

const CHECK_MS = 500;

/**
 * Ends this process soon after what started it: its parent, or npx, which puts a shell in between. The shell outlives npx when
 * npx is killed, and then nothing else would tell. On Windows, where a process keeps the id of a parent that is gone, nothing
 * ends.
 */
export function endWithLauncher(): void {
  const parent = process.ppid;
  const behindShells = parentsBehindShells(parent);
  setInterval(() => {
    if (process.ppid !== parent || !behindShells.every(isAlive)) process.exit(0);
  }, CHECK_MS).unref();
}

/** Who started the shell that the process is, and who started that one, if it is a shell too. */
function parentsBehindShells(pid: number): number[] {
  const { parent, command } = processOf(pid) ?? {};
  if (parent === undefined || !/^(?:\S*\/)?(?:ba|da|a|k|z)?sh -c /.test(command!)) return [];
  return [parent, ...parentsBehindShells(parent)];
}

/** A process as the system shows it; undefined where it shows none. */
function processOf(pid: number): { parent: number; command: string } | undefined {
  try {
    if (process.platform === 'linux') {
      const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
      // The name before the fields is in brackets, and may hold anything.
      const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(')').at(-1)!.trim().split(' ');
      return { parent: Number(fields[1]), command };
    }
    if (process.platform === 'win32') return undefined;
    const [, parent, command] = /^\s*(\d+)\s+(.*)/.exec(
      execFileSync('ps', ['-o', 'ppid=,args=', '-p', String(pid)], { encoding: 'utf8' }),
    )!;
    return { parent: Number(parent), command: command! };
  } catch {
    return undefined;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
