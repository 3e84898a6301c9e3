import type { AttributeValue, DynamoDbItem } from '../../aws-client/attribute-value';

/** Attribute values in DynamoDB's JSON, in which a binary value is a base64 text. */
export type AttributeJson = Record<string, unknown>;

/** Converts an item to the JSON of a request. */
export function itemToJson(item: DynamoDbItem): AttributeJson {
  return convertedBinary(item, toBase64);
}

/** Copies an item. Converts its binary values, also the values in sets, lists and maps. */
export function convertedBinary(item: DynamoDbItem, convert: (bytes: Uint8Array) => unknown): AttributeJson {
  const converted = (value: AttributeValue): unknown => {
    if ('B' in value) return { B: convert(value.B) };
    if ('BS' in value) return { BS: value.BS.map((bytes) => convert(bytes)) };
    if ('L' in value) return { L: value.L.map(converted) };
    return 'M' in value ? { M: convertedBinary(value.M, convert) } : value;
  };
  return Object.fromEntries(Object.entries(item).map(([name, value]) => [name, converted(value)]));
}

/**
 * Replaces base64 text by bytes. Modifies its argument instead of copying it, because no other code uses the parsed
 * JSON.
 */
export function itemFromJson(json: AttributeJson): DynamoDbItem {
  for (const name in json) decodeBinary(json[name] as AttributeJson);
  return json as DynamoDbItem;
}

function decodeBinary(value: AttributeJson): void {
  if ('B' in value) value.B = fromBase64(value.B as string);
  else if ('BS' in value) value.BS = (value.BS as string[]).map(fromBase64);
  else if ('L' in value) (value.L as AttributeJson[]).forEach(decodeBinary);
  else if ('M' in value) itemFromJson(value.M as AttributeJson);
}

function toBase64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
}

function fromBase64(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text, 'base64'));
}
