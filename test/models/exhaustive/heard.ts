import { createHash } from 'node:crypto';

/**
 * What processes have heard since they began. A process does the same whenever it hears the same, so this is its state,
 * short however much it has heard.
 */
export class Heard {
  private readonly byProcess = new Map<string, { texts: string[]; since: unknown[] }>();

  /** @param textOf tells apart what processes hear */
  constructor(private readonly textOf: (part: unknown) => string = stateText) {}

  /** What a process hears must not change later. */
  hear(process: string, ...what: readonly unknown[]): void {
    const own = this.byProcess.get(process) ?? { texts: [], since: [] };
    own.since.push(what);
    this.byProcess.set(process, own);
  }

  /** The process has ended, and whoever follows it knows nothing. */
  forget(process: string): void {
    this.byProcess.delete(process);
  }

  all(): [process: string, heard: string][] {
    const all = [...this.byProcess].map(([process, own]): [string, string] => {
      for (const what of own.since.splice(0)) own.texts.push(this.textOf(what));
      return [process, digest(own.texts.join('\n'))];
    });
    return all.sort();
  }
}

/** Short, for there are many. It has 128 bits, so no two of some millions are the same by chance. */
export function digest(text: string): string {
  return createHash('md5').update(text).digest('base64');
}

/** A part of a state as text. It is the same for two that are the same. */
export function stateText(part: unknown): string {
  return JSON.stringify([part], (_, value) => {
    if (typeof value === 'bigint') return `${value}n`;
    if (value instanceof Error) return [value.name, value.message];
    if (value instanceof Map || value instanceof Set) return [...value];
    return value;
  });
}
