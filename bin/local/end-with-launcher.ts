import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

const CHECK_MS = 500;

/**
 * Ends this process soon after the program that started it ends: its parent, or npx, which puts a shell in between. If npx
 * is killed, the shell stays, and nothing else would show that npx is gone. On Windows this does nothing, because there a
 * process keeps the id of a parent that is gone.
 */
export function endWithLauncher(): void {
  const parent = process.ppid;
  const behindShells = parentsBehindShells(parent);
  setInterval(() => {
    if (process.ppid !== parent || !behindShells.every(isAlive)) process.exit(0);
  }, CHECK_MS).unref();
}

/** The ids of the process that started a shell and, if that is a shell, too, of the one that started it. */
function parentsBehindShells(pid: number): number[] {
  const { parent, command } = processOf(pid) ?? {};
  if (parent === undefined || !/^(?:\S*\/)?(?:ba|da|a|k|z)?sh -c /.test(command!)) return [];
  return [parent, ...parentsBehindShells(parent)];
}

/** A process as the system shows it; undefined if the system does not show it. */
function processOf(pid: number): { parent: number; command: string } | undefined {
  try {
    if (process.platform === 'linux') {
      const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
      // The name before the fields is in parentheses, and may hold any character.
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
