import { createHash } from 'node:crypto';

/**
 * The inputs of each process since its start. A process with equal inputs behaves in the same way, so the inputs are the state of
 * the process. A digest keeps the state short.
 */
export class ProcessInputs {
  private readonly byProcess = new Map<string, { texts: string[]; since: unknown[] }>();

  /** @param textOf returns different texts for different inputs */
  constructor(private readonly textOf: (part: unknown) => string = stateText) {}

  /** Adds inputs of a process. They must not change later. */
  add(process: string, ...what: readonly unknown[]): void {
    const own = this.byProcess.get(process) ?? { texts: [], since: [] };
    own.since.push(what);
    this.byProcess.set(process, own);
  }

  /** Removes the inputs of a process that has ended. */
  remove(process: string): void {
    this.byProcess.delete(process);
  }

  all(): [process: string, inputs: string][] {
    const all = [...this.byProcess].map(([process, own]): [string, string] => {
      for (const what of own.since.splice(0)) own.texts.push(this.textOf(what));
      return [process, digest(own.texts.join('\n'))];
    });
    return all.sort();
  }
}

/** A digest of 128 bits, so that millions of different states have different digests. */
export function digest(text: string): string {
  return createHash('md5').update(text).digest('base64');
}

/** A part of a state as text. Equal parts have equal texts. */
export function stateText(part: unknown): string {
  return JSON.stringify([part], (_, value) => {
    if (typeof value === 'bigint') return `${value}n`;
    if (value instanceof Error) return [value.name, value.message];
    if (value instanceof Map || value instanceof Set) return [...value];
    return value;
  });
}
