import { compareNumbers, plainDecimal } from '../foundation/decimal';
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

/** What the values of a type are compared by, once for each value. */
export type KeyRank = number | bigint | string | Buffer;

/** How the values of one CQL type are written, sent, and ordered. */
export interface KeyType {
  /** What is allowed, in words. */
  readonly allowed: string;
  /**
   * The one text of a value, whichever of its notations or of the driver's classes it comes in; undefined for a value of
   * another type. Shards are calculated from it, and cursors hold it.
   */
  textOf(value: unknown): string | undefined;
  /** The value as every client of the driver takes it, whatever its encoding options are. */
  parameter(text: string): unknown;
  /** What `compare` compares. */
  rank(text: string): KeyRank;
  /** The order in which Cassandra keeps the values, ascending. */
  compare(a: KeyRank, b: KeyRank): number;
}

const same = (text: string): string => text;

/** Text that UTF-8 can write: half a surrogate pair becomes another character when it is sent. */
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

/** Source: the CQL reference, "Data types": two's complement of so many bits. */
function integerType(bits: number): KeyType {
  const most = 2n ** BigInt(bits - 1) - 1n;
  const small = bits <= 32;
  return {
    allowed: `a whole number from ${-most - 1n} to ${most}`,
    textOf: (value) => {
      const number = wholeNumber(value);
      return number !== undefined && number <= most && number >= -most - 1n ? String(number) : undefined;
    },
    parameter: small ? Number : same,
    rank: small ? Number : BigInt,
    compare: compareOrdered,
  };
}

const varint: KeyType = {
  allowed: 'a whole number',
  textOf: (value) => wholeNumber(value)?.toString(),
  parameter: same,
  rank: BigInt,
  compare: compareOrdered,
};

/** A number, a bigint, decimal digits, or an object of the driver that writes itself so. */
function wholeNumber(value: unknown): bigint | undefined {
  if (typeof value === 'bigint') return value;
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : undefined;
  const integer = driverInteger(value);
  if (integer !== undefined) return integer;
  const text = writtenOut(value);
  return text !== undefined && /^[+-]?\d{1,1000}$/.test(text) ? BigInt(text.replace('+', '')) : undefined;
}

/** Bounded, so that nobody has a number written out to a gigabyte of zeros. */
const DECIMAL = /^[+-]?(?=\.?\d)\d{0,1000}(?:\.\d{0,1000})?(?:[eE][+-]?\d{1,3})?$/;

const decimal: KeyType = {
  allowed: 'a decimal number, as a number or as text',
  textOf: (value) => {
    const text = typeof value === 'number' ? String(value) : (driverDecimal(value) ?? writtenOut(value) ?? '');
    return DECIMAL.test(text) ? plainDecimal(text) : undefined;
  },
  parameter: same,
  rank: same,
  compare: (a, b) => compareNumbers(a as string, b as string),
};

function floatingType(allowed: string, nearest: (value: number) => number): KeyType {
  return {
    allowed,
    textOf: (value) => {
      if (typeof value !== 'number') return undefined;
      const number = nearest(value);
      return Object.is(number, -0) ? '-0' : String(number);
    },
    parameter: Number,
    rank: Number,
    compare: (a, b) => compareDoubles(a as number, b as number),
  };
}

const boolean: KeyType = {
  allowed: 'true or false',
  textOf: (value) => (typeof value === 'boolean' ? String(value) : undefined),
  parameter: (text) => text === 'true',
  rank: (text) => Number(text === 'true'),
  compare: compareOrdered,
};

const blob: KeyType = {
  allowed: 'a Buffer or another Uint8Array',
  textOf: (value) => (value instanceof Uint8Array ? Buffer.from(value).toString('base64') : undefined),
  parameter: (text) => Buffer.from(text, 'base64'),
  rank: (text) => Buffer.from(text, 'base64'),
  compare: compareBytes,
};

const date: KeyType = {
  allowed: 'a date such as "2020-07-09", or a Date, whose day in UTC counts',
  textOf: (value) => {
    const text = value instanceof Date ? isoTime(value)?.slice(0, 10) : writtenOut(value);
    if (text === undefined || !/^\d{4}-\d\d-\d\d$/.test(text)) return undefined;
    return isoTime(new Date(`${text}T00:00:00Z`))?.slice(0, 10) === text ? text : undefined;
  },
  parameter: same,
  rank: (text) => Date.parse(text),
  compare: compareOrdered,
};

const time: KeyType = {
  allowed: 'a time of day such as "08:30:00" or "08:30:00.123456789"',
  textOf: (value) => {
    const match = /^([01]\d|2[0-3]):([0-5]\d):([0-5]\d)(?:\.(\d{1,9}))?$/.exec(writtenOut(value) ?? '');
    return match === null ? undefined : `${match.slice(1, 4).join(':')}.${(match[4] ?? '').padEnd(9, '0')}`;
  },
  parameter: same,
  // Of one length, so that they sort like their text.
  rank: same,
  compare: compareOrdered,
};

const timestamp: KeyType = {
  allowed: 'a Date, milliseconds since 1970, or a time such as "2020-07-09T08:30:00.000Z"',
  textOf: (value) => {
    if (value instanceof Date) return isoTime(value);
    if (typeof value === 'number') return Number.isInteger(value) ? isoTime(new Date(value)) : undefined;
    const zoned = typeof value === 'string' && /^[+-]?\d{4,6}-\d\d-\d\dT.*(?:Z|[+-]\d\d:\d\d)$/.test(value);
    return zoned ? isoTime(new Date(value)) : undefined;
  },
  parameter: (text) => new Date(text),
  rank: (text) => Date.parse(text),
  compare: compareOrdered,
};

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

function uuidType(allowed: string, version: RegExp, rank: (bytes: Buffer) => Buffer): KeyType {
  return {
    allowed,
    textOf: (value) => {
      const text = writtenOut(value)?.toLowerCase();
      return text !== undefined && UUID.test(text) && version.test(text[14]!) ? text : undefined;
    },
    parameter: same,
    rank: (text) => rank(Buffer.from(text.replaceAll('-', ''), 'hex')),
    compare: compareBytes,
  };
}

/** The time of a version 1 UUID, its most significant bytes first. */
const timeOf = (bytes: Buffer): Buffer =>
  Buffer.of(...bytes.subarray(6, 8), ...bytes.subarray(4, 6), ...bytes.subarray(0, 4));

/** By version; then version 1 by its time, the others by their bytes. Source: UUIDType of Apache Cassandra. */
function uuidRank(bytes: Buffer): Buffer {
  const version = bytes[6]! >> 4;
  return Buffer.of(version, ...(version === 1 ? timeOf(bytes) : bytes.subarray(0, 8)), ...bytes.subarray(8));
}

/** By time, then by the other bytes with their signs. Source: TimeUUIDType of Apache Cassandra. */
function timeUuidRank(bytes: Buffer): Buffer {
  return Buffer.of(...timeOf(bytes), ...bytes.subarray(8).map((byte) => byte ^ 0x80));
}

const text = textType(
  'text of whole characters, without half a surrogate pair',
  (value) => !LONE_SURROGATE.test(value),
);

const TYPES: Record<CqlKeyType, KeyType> = {
  ascii: textType('ASCII text', (value) => Buffer.byteLength(value) === value.length),
  bigint: integerType(64),
  blob,
  boolean,
  date,
  decimal,
  double: floatingType('a number', (value) => value),
  float: floatingType('a number', Math.fround),
  int: integerType(32),
  smallint: integerType(16),
  text,
  time,
  timestamp,
  timeuuid: uuidType('a version 1 UUID', /1/, timeUuidRank),
  tinyint: integerType(8),
  uuid: uuidType('a UUID', /./, uuidRank),
  varchar: text,
  varint,
};

/** The types that a key column can have. */
export const CQL_KEY_TYPES = Object.keys(TYPES) as CqlKeyType[];

/** Types whose values have a beginning. */
export const TEXT_TYPES: readonly CqlKeyType[] = ['ascii', 'text', 'varchar'];

export function keyTypeOf(type: CqlKeyType): KeyType {
  return TYPES[type];
}

/** The text of a string, or of one of the driver's objects (LocalDate, Long, Uuid, BigDecimal): they write themselves. */
function writtenOut(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  const plain = typeof value !== 'object' || value === null || Array.isArray(value) || value instanceof Date;
  if (plain) return undefined;
  const write: unknown = value.toString;
  const text: unknown = typeof write === 'function' ? write.call(value) : undefined;
  return typeof text === 'string' ? text : undefined;
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

/** As Java compares doubles: -0 below 0, and what is no number above everything. */
function compareDoubles(a: number, b: number): number {
  if (Number.isNaN(a) || Number.isNaN(b)) return Number(Number.isNaN(a)) - Number(Number.isNaN(b));
  return compareOrdered(a, b) || Number(Object.is(b, -0)) - Number(Object.is(a, -0));
}
