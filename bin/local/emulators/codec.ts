import { cbor } from '@smithy/core/cbor';

/**
 * The encoding of requests and responses. Most SDKs use JSON. The SDKs for Java use CBOR for Kinesis, with record data
 * as bytes.
 */
interface Codec {
  decode(body: Buffer): unknown;
  encode(value: unknown): Uint8Array;
}

export const JSON_CODEC: Codec = {
  decode: (body) => JSON.parse(body.toString()),
  encode: (value) => Buffer.from(JSON.stringify(value)),
};

const CBOR_CODEC: Codec = {
  decode: (body) => {
    const value = cbor.deserialize(body);
    // In CBOR, Kinesis returns record data as bytes. kinesis-local returns base64 text, so this code decodes the text.
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

/** The codec of a content type. Undefined for a content type that the services reject. */
export function codecOf(contentType = ''): Codec | undefined {
  return CODECS.find(([start]) => contentType.startsWith(start))?.[1];
}
