import { deflateRawSync, inflateRawSync } from 'node:zlib';

/** JSON with bytes and big integers. Bytes that compress well are compressed, because a parked record can have megabytes. */
export function toText(value: unknown): string {
  return `${JSON.stringify(value, replacer, 2)}\n`;
}

export function fromText(text: string): unknown {
  return JSON.parse(text, (_, value) => {
    const { $bytes: bytes, $deflated: deflated, $integer: integer } = Object(value);
    if (typeof bytes === 'string') return Buffer.from(bytes, 'base64');
    if (typeof deflated === 'string') return inflateRawSync(Buffer.from(deflated, 'base64'));
    return typeof integer === 'string' ? BigInt(integer) : value;
  });
}

const SHORT_BYTES = 4_096;

function replacer(this: Record<string, unknown>, name: string, value: unknown): unknown {
  // A buffer has already become a plain object in `value`.
  const original = this[name];
  if (typeof value === 'bigint') return { $integer: String(value) };
  if (!(original instanceof Uint8Array)) return value;
  if (original.length <= SHORT_BYTES) return { $bytes: Buffer.from(original).toString('base64') };
  return { $deflated: deflateRawSync(original, { level: 9 }).toString('base64') };
}
