import type { PutRecordsInput, PutRecordsRequestEntry } from './put-records-client';

/** The maximum number of bytes of a character in UTF-8 JSON. The longest form is an escape, such as `\u0000`. */
const MAX_CHARACTER_BYTES = 6;

/** An upper bound for the bytes of an entry's JSON without the values: its names, quotes, braces and commas. */
const MAX_FRAME_BYTES = 64;

/**
 * Returns the body of a `PutRecords` request. The function writes the entries directly into a buffer. A string of all entries
 * would be converted to bytes three times: for the signature, for the length and for the transfer.
 */
export function putRecordsBody({ Records, ...stream }: PutRecordsInput): Uint8Array {
  const head = JSON.stringify({ ...stream, Records: [] }).slice(0, -2);
  const body = Buffer.allocUnsafe(
    Records.reduce((bytes, entry) => bytes + mostBytesOf(entry), Buffer.byteLength(head) + 2),
  );
  let end = body.write(head);
  Records.forEach((entry, index) => {
    end += body.write(index === 0 ? jsonOf(entry) : `,${jsonOf(entry)}`, end);
  });
  end += body.write(']}', end);
  return body.subarray(0, end);
}

function mostBytesOf({ Data, PartitionKey, ExplicitHashKey = '' }: PutRecordsRequestEntry): number {
  const characters = PartitionKey.length + ExplicitHashKey.length;
  return MAX_FRAME_BYTES + Math.ceil(Data.byteLength / 3) * 4 + characters * MAX_CHARACTER_BYTES;
}

function jsonOf({ Data, PartitionKey, ExplicitHashKey }: PutRecordsRequestEntry): string {
  const explicitHashKey = ExplicitHashKey === undefined ? '' : `,"ExplicitHashKey":${JSON.stringify(ExplicitHashKey)}`;
  return `{"Data":"${base64Of(Data)}","PartitionKey":${JSON.stringify(PartitionKey)}${explicitHashKey}}`;
}

function base64Of({ buffer, byteOffset, byteLength }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString('base64');
}
