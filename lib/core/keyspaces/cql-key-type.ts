import { isRecord } from '../kernel/checks';
import { compareDecimals, type Decimal, decimalOfText, decimalText } from '../kernel/decimal';
import { driverDecimal, driverInteger } from './driver-number';

/** A CQL type that a key column of a sharded table can have. */
export type CqlKeyType =
  | 'ascii'
  | 'bigint'
  | 'blob'
  | 'boolean'
  | 'date'
  | 'decimal'
  | 'double'
  | 'float'
  | 'int'
  | 'smallint'
  | 'text'
  | 'time'
  | 'timestamp'
  | 'timeuuid'
  | 'tinyint'
  | 'uuid'
  | 'varchar'
  | 'varint';

/** The form in which values are compared. It is computed once for each value. */
export type KeyRank = number | bigint | string | Buffer | Decimal;

/** The functions that write, send and compare the values of a CQL type. */
interface KeyType {
  /** The allowed values, for error messages. */
  readonly allowed: string;
  /**
   * The canonical text of a value. All notations of the value, and all classes of the driver, have the same text. Undefined for
   * a value of another type. Shards are calculated from this text, and cursors contain this text.
   */
  textOf(value: unknown): string | undefined;
  /**
   * The canonical text of a value from a configuration or a command line, such as "1.50", "07" or "True". Undefined if
   * the value does not fit the type.
   * @default as `textOf`
   */
  textOfInput?(input: string): string | undefined;
  /**
   * Returns the value as a parameter of a statement. Every client of the driver accepts this form, with any encoding options.
   */
  parameter(text: string): unknown;
  /**
   * Returns the bytes of a value if the driver cannot send the value, otherwise undefined.
   * @default the driver can send every value
   */
  bytes?(text: string): Buffer | undefined;
  /** Converts a text to the form that `compare` takes. */
  rank(text: string): KeyRank;
  /** Compares two values in the ascending order of Cassandra. */
  compare(a: KeyRank, b: KeyRank): number;
}

const same = (text: string): string => text;

/** Half a surrogate pair. UTF-8 cannot encode half a pair, so the database would store another character. */
const LONE_SURROGATE = /\p{Surrogate}/u;

function textType(allowed: string, valid: (value: string) => boolean): KeyType {
  return {
    allowed,
    textOf: (value) => (typeof value === 'string' && valid(value) ? value : undefined),
    parameter: same,
    rank: (text) => Buffer.from(text),
    compare: compareBytes,
  };
}

/** An integer type in two's complement with this number of bits. Source: the CQL reference, "Data types". */
function integerType(bits: number, parameter: (text: string) => unknown = Number): KeyType {
  const most = 2n ** BigInt(bits - 1) - 1n;
  return {
    allowed: `a whole number from ${-most - 1n} to ${most}`,
    textOf: (value) => {
      const number = wholeNumber(value);
      return number !== undefined && number <= most && number >= -most - 1n ? String(number) : undefined;
    },
    parameter,
    rank: BigInt,
    compare: compareOrdered,
  };
}

/**
 * The maximum number of digits to send as text. The time that the driver needs grows with the square of the number of digits.
 */
const MAX_DIGITS_SENT = 300;

const isLong = (text: string): boolean => text.length > MAX_DIGITS_SENT;

/**
 * Encodes an integer in two's complement, most significant byte first. The function uses the fewest bytes, as drivers do,
 * because the bytes of a partition key determine the partition. Source: the CQL binary protocol, section 6, varint.
 */
function bytesOfWhole(number: bigint): Buffer {
  const digits = (number < 0n ? ~number : number).toString(2);
  const bytes = (digits.length >> 3) + 1;
  const hex = BigInt.asUintN(8 * bytes, number).toString(16);
  return Buffer.from(hex.padStart(2 * bytes, '0'), 'hex');
}

/**
 * The maximum number of zeros before or after the digits of a number. A number with more zeros is written with an
 * exponent.
 */
const MAX_ZEROS = 2_000;

/**
 * The maximum number of digits of a number, because a key column holds at most 64 KiB. Source: the CQL binary protocol,
 * the length of a clustering value.
 */
const MAX_DIGITS = 160_000;

/** Encodes a decimal number as its scale and its unscaled number. Source: the CQL binary protocol, section 6, decimal. */
function decimalBytes({ sign, exponent, digits }: Decimal): Buffer {
  const scale = Buffer.alloc(4);
  scale.writeInt32BE(digits.length - exponent);
  return Buffer.concat([scale, bytesOfWhole(BigInt(sign) * BigInt(digits))]);
}

function timestampBytes(milliseconds: bigint): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64BE(milliseconds);
  return bytes;
}

const varint: KeyType = {
  allowed: 'a whole number',
  textOf: (value) => wholeNumber(value)?.toString(),
  parameter: same,
  bytes: (text) => (isLong(text) ? bytesOfWhole(BigInt(text)) : undefined),
  rank: BigInt,
  compare: compareOrdered,
};

/** Converts a number, a bigint, decimal digits, or an object of the driver whose text is decimal digits. */
function wholeNumber(value: unknown): bigint | undefined {
  if (typeof value === 'bigint') return value;
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : undefined;
  const integer = driverInteger(value);
  if (integer !== undefined) return integer;
  const text = textOfObject(value);
  return /^[+-]?\d{1,160000}$/.test(text) ? BigInt(text.replace('+', '')) : undefined;
}

const decimal: KeyType = {
  allowed: 'a decimal number, as a number or as text',
  textOf: (value) => {
    const text = typeof value === 'number' ? String(value) : (driverDecimal(value) ?? textOfObject(value));
    const number = text.length > MAX_DIGITS ? undefined : decimalOfText(text);
    return number && decimalText(number, MAX_ZEROS);
  },
  parameter: same,
  // The driver does not accept an exponent.
  bytes: (text) => (isLong(text) || text.includes('E') ? decimalBytes(decimalOfText(text)!) : undefined),
  rank: (text) => decimalOfText(text)!,
  compare: (a, b) => compareDecimals(a as Decimal, b as Decimal),
};

function floatingType(nearest: (value: number) => number): KeyType {
  return {
    allowed: 'a number',
    textOf: (value) => {
      if (typeof value !== 'number') return undefined;
      const number = nearest(value);
      return Object.is(number, -0) ? '-0' : String(number);
    },
    textOfInput(input) {
      return /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$|^NaN$|^-?Infinity$/.test(input)
        ? this.textOf(Number(input))
        : undefined;
    },
    parameter: Number,
    rank: Number,
    compare: (a, b) => compareDoubles(a as number, b as number),
  };
}

const boolean: KeyType = {
  allowed: 'true or false',
  textOf: (value) => (typeof value === 'boolean' ? String(value) : undefined),
  textOfInput: (input) => /^(?:true|false)$/i.exec(input)?.[0].toLowerCase(),
  parameter: (text) => text === 'true',
  rank: (text) => Number(text === 'true'),
  compare: compareOrdered,
};

const blob: KeyType = {
  allowed: 'a Buffer or another Uint8Array',
  textOf: (value) => (value instanceof Uint8Array ? Buffer.from(value).toString('base64') : undefined),
  textOfInput: (input) => {
    if (/^0x(?:[0-9a-f]{2})*$/i.test(input)) return Buffer.from(input.slice(2), 'hex').toString('base64');
    return Buffer.from(input, 'base64').toString('base64') === input ? input : undefined;
  },
  parameter: (text) => Buffer.from(text, 'base64'),
  rank: (text) => Buffer.from(text, 'base64'),
  compare: compareBytes,
};

const DAY_MS = 86_400_000;

/** The text of a day outside the range of `Date`: the number of days since 1970, as the driver writes such a day. */
const DAYS = /^-?\d{9,10}$/;

const dayOfTime = (time: Date): string | undefined => isoTime(time)?.split('T')[0];

function dayOf(value: unknown): string | undefined {
  if (value instanceof Date) return dayOfTime(value);
  const text = textOfObject(value);
  if (DAYS.test(text)) {
    const days = Number(text);
    return days === (days | 0) && dayOfDays(days) === undefined ? String(days) : undefined;
  }
  const [, sign, year, rest] = /^([+-]?)(\d{4,6})(-\d\d-\d\d)$/.exec(text) ?? [];
  if (year === undefined) return undefined;
  const iso = `${sign || '+'}${year.padStart(6, '0')}${rest}`;
  const found = dayOfTime(new Date(`${iso}T00:00:00Z`));
  // `Date` converts February 30 to a day in March.
  return found?.endsWith(rest!) ? found : undefined;
}

const dayOfDays = (days: number): string | undefined => dayOfTime(new Date(days * DAY_MS));

const date: KeyType = {
  allowed: 'a date such as "2020-07-09", or a Date (its day in UTC)',
  textOf: dayOf,
  textOfInput: (input) => {
    const padded = input.replace(/-(\d)(?=-|$)/g, '-0$1');
    return dayOf(padded);
  },
  parameter: same,
  rank: (text) => (DAYS.test(text) ? Number(text) : Date.parse(text) / DAY_MS),
  compare: compareOrdered,
};

const time: KeyType = {
  allowed: 'a time of day such as "08:30:00" or "08:30:00.123456789"',
  textOf: (value) => {
    const match = /^([01]\d|2[0-3]):([0-5]\d):([0-5]\d)(?:\.(\d{1,9}))?$/.exec(textOfObject(value));
    return match === null ? undefined : `${match.slice(1, 4).join(':')}.${(match[4] ?? '').padEnd(9, '0')}`;
  },
  parameter: same,
  // All texts have the same length, so the order of the texts is the order of the values.
  rank: same,
  compare: compareOrdered,
};

/** The text of a time outside the range of `Date`: its milliseconds since 1970. */
const MILLISECONDS = /^-?\d{16,19}$/;

const timestamp: KeyType = {
  allowed: 'a Date, milliseconds since 1970, or a time such as "2020-07-09T08:30:00.000Z"',
  textOf: (value) => {
    if (value instanceof Date) return isoTime(value);
    const milliseconds = typeof value === 'string' && !MILLISECONDS.test(value) ? undefined : wholeNumber(value);
    if (milliseconds !== undefined) {
      const iso = isoTime(new Date(Number(milliseconds)));
      return iso ?? (BigInt.asIntN(64, milliseconds) === milliseconds ? String(milliseconds) : undefined);
    }
    const zoned = typeof value === 'string' && /^[+-]?\d{4,6}-\d\d-\d\dT.*(?:Z|[+-]\d\d:\d\d)$/.test(value);
    return zoned ? isoTime(new Date(value)) : undefined;
  },
  parameter: (text) => new Date(text),
  bytes: (text) => (MILLISECONDS.test(text) ? timestampBytes(BigInt(text)) : undefined),
  rank: (text) => (MILLISECONDS.test(text) ? BigInt(text) : Date.parse(text)),
  compare: compareOrdered,
};

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const TIME_UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-1[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/;

function uuidType(allowed: string, form: RegExp, rank: (bytes: Buffer) => Buffer): KeyType {
  return {
    allowed,
    textOf: (value) => {
      const text = textOfObject(value).toLowerCase();
      return form.test(text) ? text : undefined;
    },
    parameter: same,
    rank: (text) => rank(Buffer.from(text.replaceAll('-', ''), 'hex')),
    compare: compareBytes,
  };
}

/** The time of a version 1 UUID, most significant bytes first. */
const timeOf = (bytes: Buffer): Buffer =>
  Buffer.of(...bytes.subarray(6, 8), ...bytes.subarray(4, 6), ...bytes.subarray(0, 4));

/**
 * UUIDs are ordered by version. UUIDs of version 1 are then ordered by time, and UUIDs of all other versions by their bytes.
 * Source: UUIDType of Apache Cassandra.
 */
function uuidRank(bytes: Buffer): Buffer {
  const version = bytes[6]! >> 4;
  return Buffer.of(version, ...(version === 1 ? timeOf(bytes) : []), ...bytes);
}

/**
 * Time UUIDs are ordered by time, and then by their other bytes as signed numbers. Source: TimeUUIDType of Apache
 * Cassandra.
 */
function timeUuidRank(bytes: Buffer): Buffer {
  return Buffer.of(...timeOf(bytes), ...bytes.subarray(8).map((byte) => byte ^ 0x80));
}

const text = textType('text without half a surrogate pair', (value) => !LONE_SURROGATE.test(value));

const TYPES: Record<CqlKeyType, KeyType> = {
  ascii: textType('ASCII text', (value) => Buffer.byteLength(value) === value.length),
  bigint: integerType(64, same),
  blob,
  boolean,
  date,
  decimal,
  double: floatingType((value) => value),
  float: floatingType(Math.fround),
  int: integerType(32),
  smallint: integerType(16),
  text,
  time,
  timestamp,
  timeuuid: uuidType('a version 1 UUID', TIME_UUID, timeUuidRank),
  tinyint: integerType(8),
  uuid: uuidType('a UUID', UUID, uuidRank),
  varchar: text,
  varint,
};

/** The types that a key column can have. */
export const CQL_KEY_TYPES = Object.keys(TYPES) as CqlKeyType[];

/** The types whose values are texts. Only these types support `beginsWith`. */
export const TEXT_TYPES: readonly CqlKeyType[] = ['ascii', 'text', 'varchar'];

export function keyTypeOf(type: CqlKeyType): KeyType {
  return TYPES[type];
}

/**
 * Returns a string, or the text of an object of the driver: LocalDate, Long, Uuid or BigDecimal. Returns an empty text for any
 * other value.
 */
function textOfObject(value: unknown): string {
  if (typeof value === 'string') return value;
  if (!isRecord(value)) return '';
  const write: unknown = value.toString;
  const text: unknown = typeof write === 'function' ? write.call(value) : undefined;
  return typeof text === 'string' ? text : '';
}

function isoTime(time: Date): string | undefined {
  return Number.isNaN(time.getTime()) ? undefined : time.toISOString();
}

function compareBytes(a: KeyRank, b: KeyRank): number {
  return Buffer.compare(a as Buffer, b as Buffer);
}

function compareOrdered(a: KeyRank, b: KeyRank): number {
  if (a < b) return -1;
  return a > b ? 1 : 0;
}

/** Compares doubles as Java does: -0 is less than 0, and NaN is greater than every other number. */
function compareDoubles(a: number, b: number): number {
  if (Number.isNaN(a) || Number.isNaN(b)) return Number(Number.isNaN(a)) - Number(Number.isNaN(b));
  return compareOrdered(a, b) || Number(Object.is(b, -0)) - Number(Object.is(a, -0));
}
