import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

const CHECK_MS = 500;

/**
 * Ends this process soon after its launcher ends. The launcher is the parent process, or npx. npx starts a shell that
 * starts this process. If npx is killed, the shell keeps running, so this function checks whether the shell and npx
 * still run. This function does nothing on Windows, where a process keeps the parent id of an ended parent.
 */
export function endWithLauncher(): void {
  const parent = process.ppid;
  const behindShells = parentsBehindShells(parent);
  setInterval(() => {
    if (process.ppid !== parent || !behindShells.every(isAlive)) process.exit(0);
  }, CHECK_MS).unref();
}

/**
 * If the process is a shell, returns the id of its parent. A parent that is also a shell adds the id of its own parent.
 */
function parentsBehindShells(pid: number): number[] {
  const { parent, command } = processOf(pid) ?? {};
  if (parent === undefined || !/^(?:\S*\/)?(?:ba|da|a|k|z)?sh -c /.test(command!)) return [];
  return [parent, ...parentsBehindShells(parent)];
}

/** The parent id and the command of a process. Undefined if the system does not show the process. */
function processOf(pid: number): { parent: number; command: string } | undefined {
  try {
    if (process.platform === 'linux') {
      const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
      // Skip the process name, which is in parentheses before these fields and can contain any character.
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
