import { cbor } from '@smithy/core/cbor';

/** How the services write inputs and outputs: most SDKs in JSON, those of Java ask Kinesis in CBOR, with data as bytes. */
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
    // kinesis-local writes the data of records as text in base64 here, too, which Kinesis does not.
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

/** Undefined for what no service takes. */
export function codecOf(contentType = ''): Codec | undefined {
  return CODECS.find(([start]) => contentType.startsWith(start))?.[1];
}
