import { parseHashKey } from '../foundation/hash-key-space';
import { CorruptParkedRecordError } from './consumer-errors';
import type { ParkedRecord } from './parking-store';
import type { Place } from './place';

/** Everything of a record but its data, as a segment holds it. */
interface RecordHead {
  bytes: number;
  sub: number;
  places: Place[];
  explicitHashKey?: string;
  producerId?: string;
  sequenceNumber?: string;
  isCorrupt?: true;
}

/** Many small records share an item; DynamoDB takes items of 400 KB. */
const SEGMENT_BYTES = 300_000;
const BYTES_BESIDE_DATA = 500;

/**
 * Divides records, of which there is one at least, into groups that are each written as one. A record that is larger than a segment is in a group of its
 * own.
 */
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
  yield segment;
}

/** Writes the heads of the records as a line of JSON, and their data after it. */
export function segmentBytes(records: readonly ParkedRecord[]): Buffer {
  const heads = records.map(
    ({ data, subSequenceNumber: sub, places, explicitHashKey, sequence, isCorrupt }): RecordHead => ({
      bytes: data.length,
      sub,
      places,
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
    const { bytes: length, sub: subSequenceNumber, places, explicitHashKey, producerId, sequenceNumber } = head;
    const record: ParkedRecord = {
      partitionKey,
      data: bytes.subarray(at, at + length),
      subSequenceNumber,
      places,
    };
    at += length;
    if (explicitHashKey !== undefined) record.explicitHashKey = parseHashKey(explicitHashKey)!;
    if (producerId !== undefined) record.sequence = { producerId, sequenceNumber: BigInt(sequenceNumber!) };
    if (head.isCorrupt) record.isCorrupt = true;
    return record;
  });
  if (at !== bytes.length) throw new CorruptParkedRecordError('its bytes are not as many as it says');
  return records;
}

function headsIn(line: Buffer): RecordHead[] {
  try {
    const heads: unknown = JSON.parse(line.toString());
    if (Array.isArray(heads)) return heads;
  } catch {
    // The error below reports it: the message of the parser may quote the line.
  }
  throw new CorruptParkedRecordError('it does not begin with the list of its records');
}
