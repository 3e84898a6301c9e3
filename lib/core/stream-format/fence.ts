import { checkFormat, NewerFormatError } from '../kernel/format-version';

/**
 * One of the two marker records of a hand-over. The `end` fence is the last record of a partition key under its old hash key. The
 * `start` fence is the first record under its new hash key.
 */
export interface Fence {
  /** Identifies one attempt to move a partition key, in 1 to 64 characters. Both fences of a hand-over have the same id. */
  moveId: string;
  /** `end`: the last record with the old hash key. `start`: the first record with the new hash key. */
  side: 'end' | 'start';
}

/**
 * The magic bytes begin with a NUL byte, because texts and aggregates of the Kinesis Producer Library never begin with a NUL
 * byte.
 */
const MAGIC = Buffer.from('\0even-shards-fence\0');

export function fenceData({ moveId, side }: Fence): Uint8Array {
  return Buffer.concat([MAGIC, Buffer.from(JSON.stringify({ moveId, side }))]);
}

const MOVE_ID = /^.{1,64}$/su;

/**
 * Parses a fence. Use it to recognise fences if you read a stream without an `OrderedConsumer`.
 *
 * @param data the data of one user record
 * @returns the fence; undefined if the data is not a valid fence
 * @throws NewerFormatError if a later release wrote the fence in a format that this release cannot read
 */
export function parseFence(data: Uint8Array): Fence | undefined {
  // The first byte of most records differs, so this check is fast.
  if (data[0] !== MAGIC[0] || !MAGIC.every((byte, index) => data[index] === byte)) return undefined;
  try {
    const { format, moveId, side } = JSON.parse(Buffer.from(data.subarray(MAGIC.length)).toString());
    checkFormat('fence', format);
    const isFence = typeof moveId === 'string' && MOVE_ID.test(moveId) && (side === 'end' || side === 'start');
    return isFence ? { moveId, side } : undefined;
  } catch (error) {
    if (error instanceof NewerFormatError) throw error;
    return undefined;
  }
}
