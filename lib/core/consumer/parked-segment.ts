import { parseHashKey } from '../stream-format/hash-key-space';
import { CorruptParkedRecordError } from './consumer-errors';
import type { ParkedRecord } from './parking-store';
import type { SequencePosition } from './sequence-position';

/** A record without its data, as stored in a segment. */
interface RecordHead {
  bytes: number;
  sub: number;
  positions: SequencePosition[];
  explicitHashKey?: string;
  producerId?: string;
  sequenceNumber?: string;
  isCorrupt?: true;
}

/**
 * The size of an item that many small records share. It is small, because even a replay that fails at its first record reads a
 * whole item.
 */
const SEGMENT_BYTES = 32_000;
const BYTES_BESIDE_DATA = 500;
/** The limits of a group. They keep a group below the limits of a transaction, which are 4 MB and 100 items. */
const GROUP_BYTES = 3_000_000;
const GROUP_SEGMENTS = 90;

/** Divides records into groups, each for one transaction. A record that is larger than a group is alone in its group. */
export function* groupsOf(records: readonly ParkedRecord[]): Generator<ParkedRecord[]> {
  let group: ParkedRecord[] = [];
  let [bytes, segments] = [0, 0];
  for (const segment of segmentsOf(records)) {
    const more = bytesOf(segment);
    if (group.length > 0 && (bytes + more > GROUP_BYTES || segments === GROUP_SEGMENTS)) {
      yield group;
      group = [];
      [bytes, segments] = [0, 0];
    }
    for (const record of segment) group.push(record);
    bytes += more;
    segments += 1;
  }
  if (group.length > 0) yield group;
}

/** Divides records into segments, which are stored together. A record that is larger than a segment is alone in its segment. */
export function* segmentsOf(records: readonly ParkedRecord[]): Generator<ParkedRecord[]> {
  let segment: ParkedRecord[] = [];
  let bytes = 0;
  for (const record of records) {
    const more = record.data.length + BYTES_BESIDE_DATA;
    if (segment.length > 0 && bytes + more > SEGMENT_BYTES) {
      yield segment;
      segment = [];
      bytes = 0;
    }
    segment.push(record);
    bytes += more;
  }
  if (segment.length > 0) yield segment;
}

function bytesOf(records: readonly ParkedRecord[]): number {
  return records.reduce((sum, { data }) => sum + data.length + BYTES_BESIDE_DATA, 0);
}

/** Writes the heads of the records as a line of JSON, and their data after it. */
export function segmentBytes(records: readonly ParkedRecord[]): Buffer {
  const heads = records.map(
    ({ data, subSequenceNumber: sub, positions, explicitHashKey, sequence, isCorrupt }): RecordHead => ({
      bytes: data.length,
      sub,
      positions,
      ...(explicitHashKey !== undefined && { explicitHashKey: `${explicitHashKey}` }),
      ...(sequence && { producerId: sequence.producerId, sequenceNumber: `${sequence.sequenceNumber}` }),
      ...(isCorrupt && { isCorrupt }),
    }),
  );
  return Buffer.concat([Buffer.from(`${JSON.stringify(heads)}\n`), ...records.map(({ data }) => data)]);
}

const NEW_LINE = 10;

export function recordsOfSegment(partitionKey: string, bytes: Buffer): ParkedRecord[] {
  const end = bytes.indexOf(NEW_LINE);
  let at = end + 1;
  const records = headsIn(bytes.subarray(0, Math.max(0, end))).map((head): ParkedRecord => {
    const { bytes: length, sub: subSequenceNumber, positions, explicitHashKey, producerId, sequenceNumber } = head;
    const record: ParkedRecord = {
      partitionKey,
      data: bytes.subarray(at, at + length),
      subSequenceNumber,
      positions,
    };
    at += length;
    if (explicitHashKey !== undefined) record.explicitHashKey = parseHashKey(explicitHashKey)!;
    if (producerId !== undefined) record.sequence = { producerId, sequenceNumber: BigInt(sequenceNumber!) };
    if (head.isCorrupt) record.isCorrupt = true;
    return record;
  });
  if (at !== bytes.length) throw new CorruptParkedRecordError('the length of its data does not match its header');
  return records;
}

function headsIn(line: Buffer): RecordHead[] {
  try {
    const heads: unknown = JSON.parse(line.toString());
    if (Array.isArray(heads)) return heads;
  } catch {
    // Throw the error below instead, because the message of the parser may contain user data.
  }
  throw new CorruptParkedRecordError('its header is not a list of records');
}
