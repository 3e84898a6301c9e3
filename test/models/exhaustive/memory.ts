interface MemoryOptions {
  /** Fields that no later step depends on, such as counters, settings and clients. */
  skip: ReadonlySet<string>;
  /** Returns the current content of an object that is a queue. Returns undefined for another object. */
  queued(object: object): readonly unknown[] | undefined;
  /** The current time. The text contains future times relative to the current time. */
  nowMs: number;
}

/**
 * The content of objects as text: their fields, and the fields of all objects in them. It does not include local variables of
 * functions that wait for a response.
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
