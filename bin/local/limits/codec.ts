import { cbor } from '@smithy/core/cbor';

/** How services encode inputs and outputs. Most SDKs use JSON. Those of Java use CBOR for Kinesis, with data as bytes. */
interface Codec {
  decode(body: Buffer): unknown;
  encode(value: unknown): Uint8Array;
}

const JSON_CODEC: Codec = {
  decode: (body) => JSON.parse(body.toString()),
  encode: (value) => Buffer.from(JSON.stringify(value)),
};

const CBOR_CODEC: Codec = {
  decode: (body) => {
    const value = cbor.deserialize(body);
    // Even here, kinesis-local writes the data of records as base64 text, which Kinesis does not.
    for (const record of value?.Records ?? []) {
      if (typeof record?.Data === 'string') record.Data = Buffer.from(record.Data, 'base64');
    }
    return value;
  },
  encode: cbor.serialize,
};

const CODECS: readonly (readonly [contentType: string, codec: Codec])[] = [
  ['application/x-amz-json-', JSON_CODEC],
  ['application/x-amz-cbor-', CBOR_CODEC],
];

/** Undefined for a content type that no service accepts. */
export function codecOf(contentType = ''): Codec | undefined {
  return CODECS.find(([start]) => contentType.startsWith(start))?.[1];
}
