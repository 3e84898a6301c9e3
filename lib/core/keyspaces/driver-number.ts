/** The driver's `Integer` and `BigDecimal`, whose classes write them as the protocol has them. */
interface DriverNumber {
  readonly constructor: { toBuffer?(value: unknown): Uint8Array };
  /** Of a `BigDecimal`: how many digits stand behind the point. */
  readonly _scale?: number;
  /** Of an `Integer`. */
  readonly bits_?: readonly number[];
}

/** A number with more zeros before or behind its digits is written with an exponent. */
const MOST_ZEROS = 1_000;

/**
 * The driver's `Integer` as a bigint; undefined for everything else. From 309 digits on, where a double ends, it goes on for
 * ever when it is to write itself.
 */
export function driverInteger(value: unknown): bigint | undefined {
  const bytes = Array.isArray(Object(value).bits_) ? bytesOf(value) : undefined;
  return bytes && wholeNumber(bytes);
}

/**
 * The text of the driver's `BigDecimal`; undefined for everything else. Its digits are an `Integer`. And of 5E+2, which is how
 * Java and Python write 500, it makes "5.", and of 1E-400000000 four hundred megabytes of zeros.
 */
export function driverDecimal(value: unknown): string | undefined {
  const bytes = Number.isInteger(Object(value)._scale) ? bytesOf(value) : undefined;
  if (bytes === undefined) return undefined;
  const scale = bytes.readInt32BE();
  const unscaled = wholeNumber(bytes.subarray(4));
  if (scale === 0) return String(unscaled);
  if (scale < 0 || scale > MOST_ZEROS) return `${unscaled}E${-scale}`;
  const digits = String(unscaled < 0n ? -unscaled : unscaled).padStart(scale + 1, '0');
  return `${unscaled < 0n ? '-' : ''}${digits.slice(0, -scale)}.${digits.slice(-scale)}`;
}

function bytesOf(value: unknown): Buffer | undefined {
  const { constructor: type }: DriverNumber = Object(value);
  return typeof type?.toBuffer === 'function' ? Buffer.from(type.toBuffer(value)) : undefined;
}

/** Source: the CQL binary protocol, section 6, varint: two's complement, the most significant byte first. */
function wholeNumber(bytes: Buffer): bigint {
  return BigInt.asIntN(8 * bytes.length, BigInt(`0x${bytes.toString('hex') || '0'}`));
}
