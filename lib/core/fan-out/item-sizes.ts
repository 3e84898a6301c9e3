import type { AttributeValue, Item } from './query-client';

/** Older sizes fade: each new one weighs at least this much. */
const LEAST_WEIGHT = 1 / 1_000;

/** What is known of the sizes of an index's items: their mean and standard deviation, in bytes. */
export class ItemSizes {
  private observed: number;
  private variance: number;

  constructor(
    private meanBytes = 0,
    deviation = 0,
  ) {
    this.observed = meanBytes > 0 ? 1 : 0;
    this.variance = deviation ** 2;
  }

  get mean(): number | undefined {
    return this.observed === 0 ? undefined : this.meanBytes;
  }

  get deviation(): number {
    return Math.sqrt(this.variance);
  }

  observe(bytes: number): void {
    this.observed += 1;
    const weight = Math.max(1 / this.observed, LEAST_WEIGHT);
    const difference = bytes - this.meanBytes;
    this.meanBytes += weight * difference;
    this.variance = (1 - weight) * (this.variance + weight * difference ** 2);
  }
}

/**
 * The bytes DynamoDB charges for an item.
 * Source: the DynamoDB developer guide, "DynamoDB item sizes and formats".
 */
export function itemBytes(item: Item): number {
  let bytes = 0;
  for (const name in item) bytes += Buffer.byteLength(name) + valueBytes(item[name]!);
  return bytes;
}

/** A list or map takes 3 bytes, and each of its members 1 more than itself. */
const COLLECTION_BYTES = 3;
const MEMBER_BYTES = 1;

function valueBytes(value: AttributeValue): number {
  if ('S' in value) return Buffer.byteLength(value.S);
  if ('N' in value) return numberBytes(value.N);
  if ('B' in value) return value.B.byteLength;
  if ('SS' in value) return sum(value.SS, (text) => Buffer.byteLength(text));
  if ('NS' in value) return sum(value.NS, numberBytes);
  if ('BS' in value) return sum(value.BS, (bytes) => bytes.byteLength);
  if ('L' in value) return COLLECTION_BYTES + sum(value.L, (member) => MEMBER_BYTES + valueBytes(member));
  if ('M' in value) return COLLECTION_BYTES + Object.keys(value.M).length * MEMBER_BYTES + itemBytes(value.M);
  return 1;
}

/** A byte for two digits, and one more. */
function numberBytes(text: string): number {
  const digits = text.replace(/[eE].*$|[^0-9]/g, '').replace(/^0+|0+$/g, '');
  return Math.ceil(digits.length / 2) + 1;
}

function sum<E>(elements: readonly E[], bytesOf: (element: E) => number): number {
  return elements.reduce((total, element) => total + bytesOf(element), 0);
}
