/**
 * One of the two marker records of a hand-over: the `end` fence is the last record of a partition key under its old
 * hash key, the `start` fence is the first one under its new hash key.
 */
export interface Fence {
  /** Names one attempt at one move. Both fences of a hand-over carry the same id, of 1 to 64 characters. */
  moveId: string;
  /** `end`: the last record with the old hash key. `start`: the first record with the new hash key. */
  side: 'end' | 'start';
}

/** Neither a text nor an aggregate of the Kinesis Producer Library starts with a NUL byte. */
const MAGIC = Buffer.from('\0even-shards-fence\0');

/** The data of the record that carries a fence. */
export function fenceData({ moveId, side }: Fence): Uint8Array {
  return Buffer.concat([MAGIC, Buffer.from(JSON.stringify({ moveId, side }))]);
}

const MOVE_ID = /^.{1,64}$/su;

/**
 * The fence that a record carries. Use it to tell fences from your own records if you read a stream without an
 * `OrderedConsumer`.
 *
 * @param data the data of one user record
 * @returns the fence, or undefined if the data is not a fence, even if it begins like one
 */
export function parseFence(data: Uint8Array): Fence | undefined {
  // This is asked of every record, and nearly none is a fence: its first byte tells.
  if (!MAGIC.every((byte, index) => data[index] === byte)) return undefined;
  try {
    const { moveId, side } = JSON.parse(Buffer.from(data.subarray(MAGIC.length)).toString());
    const isFence = typeof moveId === 'string' && MOVE_ID.test(moveId) && (side === 'end' || side === 'start');
    return isFence ? { moveId, side } : undefined;
  } catch {
    return undefined;
  }
}
