/** An `Integer` or a `BigDecimal` of the driver. */
interface DriverNumber {
  readonly constructor: { toBuffer?(value: unknown): Uint8Array };
  /** Only in a `BigDecimal`: the number of digits after the decimal point. */
  readonly _scale?: number;
  /** Only in an `Integer`: its words of 32 bits. */
  readonly bits_?: readonly number[];
}

/**
 * The maximum number of zeros before or after the digits of a number. A number with more zeros is written with an
 * exponent.
 */
const MAX_ZEROS = 1_000;

/**
 * Converts the driver's `Integer` to a bigint. Undefined for any other value. The `toString` of `Integer` loops forever
 * for 309 digits or more.
 */
export function driverInteger(value: unknown): bigint | undefined {
  const bytes = Array.isArray(Object(value).bits_) ? bytesOf(value) : undefined;
  return bytes && wholeNumber(bytes);
}

/**
 * Converts the driver's `BigDecimal` to text. Undefined for any other value. Java and Python write 500 as 5E+2. For this
 * number, the `toString` of `BigDecimal` returns "5.". For 1E-400000000, it returns 400 MB of zeros.
 */
export function driverDecimal(value: unknown): string | undefined {
  const bytes = Number.isInteger(Object(value)._scale) ? bytesOf(value) : undefined;
  if (bytes === undefined) return undefined;
  const scale = bytes.readInt32BE();
  const unscaled = wholeNumber(bytes.subarray(4));
  if (scale === 0) return String(unscaled);
  if (scale < 0 || scale > MAX_ZEROS) return `${unscaled}E${-scale}`;
  const digits = String(unscaled < 0n ? -unscaled : unscaled).padStart(scale + 1, '0');
  return `${unscaled < 0n ? '-' : ''}${digits.slice(0, -scale)}.${digits.slice(-scale)}`;
}

function bytesOf(value: unknown): Buffer | undefined {
  const { constructor: type }: DriverNumber = Object(value);
  return typeof type?.toBuffer === 'function' ? Buffer.from(type.toBuffer(value)) : undefined;
}

/** Decodes two's complement, most significant byte first. Source: the CQL binary protocol, section 6, varint. */
function wholeNumber(bytes: Buffer): bigint {
  return BigInt.asIntN(8 * bytes.length, BigInt(`0x${bytes.toString('hex') || '0'}`));
}
