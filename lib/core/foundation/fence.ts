/** One of the two records between which a partition key's records change their hash key. */
export interface Fence {
  /** Names one attempt at one move. The same on both sides. */
  moveId: string;
  /** `end`: the last record with the old hash key. `start`: the first with the new one. */
  side: 'end' | 'start';
}

/** No text starts with a NUL, and no aggregate of the Kinesis Producer Library. */
const MAGIC = Buffer.from('\0even-shards-fence\0');

/** A fence as a record's data. */
export function fenceData({ moveId, side }: Fence): Uint8Array {
  return Buffer.concat([MAGIC, Buffer.from(JSON.stringify({ moveId, side }))]);
}

/** The fence that a record's data is; undefined for any other record. */
export function parseFence(data: Uint8Array): Fence | undefined {
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  if (!bytes.subarray(0, MAGIC.length).equals(MAGIC)) return undefined;
  return JSON.parse(bytes.subarray(MAGIC.length).toString()) as Fence;
}
