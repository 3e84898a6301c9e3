interface MemoryOptions {
  /** Fields that hold nothing on which a later step depends, such as counters, settings, and ways to the outside. */
  skip: ReadonlySet<string>;
  /** What a queue holds now; undefined for an object that is none. */
  queued(object: object): readonly unknown[] | undefined;
  /** The time, from which times of the future are counted. */
  nowMs: number;
}

/**
 * What objects remember, as text: their fields, and those of all that they hold. What a function holds that waits for an
 * answer is not in it.
 */
export function memoryText(roots: readonly unknown[], { skip, queued, nowMs }: MemoryOptions): string {
  const known = new Map<object, number>();
  const read = (value: unknown, field = ''): unknown => {
    if (typeof value === 'bigint') return `${value}n`;
    if (typeof value === 'number' && field.endsWith('AtMs')) return `in ${Math.max(0, value - nowMs)}`;
    if (typeof value === 'number') return Number.isFinite(value) ? value : `${value}`;
    if (typeof value === 'function' || value instanceof Promise) return typeof value;
    if (typeof value !== 'object' || value === null) return value;
    if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
    if (value instanceof AbortSignal) return value.aborted;
    if (value instanceof Error) return [value.name, value.message];
    const before = known.get(value);
    if (before !== undefined) return `object ${before}`;
    known.set(value, known.size);
    if (value instanceof AbortController) return value.signal.aborted;
    const list = value instanceof Map || value instanceof Set || Array.isArray(value) ? [...value] : queued(value);
    if (list !== undefined) return list.map((each) => read(each));
    const fields = Object.entries(value).filter(([name]) => !skip.has(name));
    return fields.map(([name, held]) => [name, read(held, name)]);
  };
  return JSON.stringify(roots.map((root) => read(root)));
}
