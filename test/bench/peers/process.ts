import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

/** The resources that a process and its children have used. */
interface Usage {
  readonly cpuMs: number;
  /** The sum of the peak memory of all these processes. */
  readonly peakBytes: number;
}

/** A program that reads a line "FIRST COUNT", puts these records, and prints a line when the outcome of each record is known. */
export interface PeerProcess {
  put(first: number, count: number): Promise<void>;
  usage(): Usage;
  stop(): Promise<void>;
}

/** If a peer needs more time than this for its work, it has failed. */
const PATIENCE_MS = 60_000;

/** True on Linux. The bench reads /proc, because a peer can have child processes. */
export const canMeasureProcesses = (): boolean => existsSync('/proc/self/stat');

export async function startPeer([program, ...programArguments]: readonly string[]): Promise<PeerProcess> {
  const child = spawn(program!, programArguments, { stdio: ['pipe', 'pipe', 'pipe'] });
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors = (errors + text).slice(-2_000);
  });
  child.stdin.on('error', () => {});
  const ended = once(child, 'exit');
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const nextLine = async (): Promise<void> => {
    let timer: NodeJS.Timeout;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(
        () => reject(new Error(`the program did not end within ${PATIENCE_MS / 1_000} s: ${errors}`)),
        PATIENCE_MS,
      );
    });
    const { done } = await Promise.race([lines.next(), late]).finally(() => clearTimeout(timer));
    if (done) throw new Error(`the program ended: ${errors}`);
  };
  return {
    async put(first, count) {
      child.stdin.write(`${first} ${count}\n`);
      await nextLine();
    },
    usage: () => usageOf(child.pid!),
    async stop() {
      const family = familyOf(child.pid!);
      child.stdin.end();
      const timer = setTimeout(() => family.forEach(kill), 5_000);
      await ended;
      clearTimeout(timer);
    },
  };
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // The process has ended.
  }
}

function usageOf(root: number): Usage {
  let cpuMs = 0;
  let peakBytes = 0;
  for (const pid of familyOf(root)) {
    const fields = statOf(pid);
    if (fields === undefined) continue;
    // Adds the user time and the system time, in ticks of 10 ms. The list leaves out the first two fields of
    // proc_pid_stat(5).
    cpuMs += (Number(fields[11]) + Number(fields[12])) * 10;
    peakBytes += Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) * 1_024;
  }
  return { cpuMs, peakBytes };
}

/** A process and all its descendants. */
function familyOf(root: number): number[] {
  const parents = new Map<number, number>();
  for (const name of readdirSync('/proc')) {
    const parent = /^\d+$/.test(name) ? statOf(Number(name))?.[1] : undefined;
    if (parent !== undefined) parents.set(Number(name), Number(parent));
  }
  const family = [root];
  for (const member of family) {
    for (const [pid, parent] of parents) if (parent === member) family.push(pid);
  }
  return family;
}

/**
 * The fields of /proc/PID/stat, starting with the state of the process. The name, which comes before the state, can
 * contain spaces.
 */
function statOf(pid: number): string[] | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  } catch {
    return undefined;
  }
}
