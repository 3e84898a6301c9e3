/** An `Integer` or a `BigDecimal` of the driver, which holds the number as the protocol has it. */
interface DriverNumber {
  readonly constructor: { toBuffer?(value: unknown): Uint8Array };
  /** Of a `BigDecimal`: how many digits follow the decimal point. */
  readonly _scale?: number;
  /** Of an `Integer`: its words of 32 bits. */
  readonly bits_?: readonly number[];
}

/** A number with more zeros than this before or after its digits is written with an exponent. */
const MOST_ZEROS = 1_000;

/**
 * The value of the driver's `Integer` as a bigint; undefined for everything else. Its own `toString` never ends for 309
 * digits or more, which no double can hold.
 */
export function driverInteger(value: unknown): bigint | undefined {
  const bytes = Array.isArray(Object(value).bits_) ? bytesOf(value) : undefined;
  return bytes && wholeNumber(bytes);
}

/**
 * The text of the driver's `BigDecimal`, whose digits are an `Integer`; undefined for everything else. Its own `toString`
 * writes 5E+2, which is how Java and Python write 500, as "5.", and 1E-400000000 as four hundred megabytes of zeros.
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
