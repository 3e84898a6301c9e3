import { types } from 'cassandra-driver';
import type { CqlKeyType, CqlValue } from '../../../lib/core';
import { MODEL_VALUES } from '../../support/fakes/fan-out-select-model';
import type { Dice } from '../../support/random-json';

/**
 * Values of each type, from the least to the greatest as Cassandra has them, as the library sends them: those at the ends of
 * the type, and beside its gaps.
 */
export const KEY_VALUES: Readonly<Record<CqlKeyType, readonly CqlValue[]>> = {
  ...MODEL_VALUES,
  ascii: ['', '\0', 'A', 'a', 'a\0', 'ab', 'b', '\x7f', '\x7f\x7f'],
  blob: ['', '00', '0000', '01', '7f', '80', 'ff', 'ffff'].map((hex) => Buffer.from(hex, 'hex')),
  date: ['0000-01-01', ...(MODEL_VALUES.date as string[])],
  decimal: [
    `-1${'0'.repeat(300)}`,
    ...(MODEL_VALUES.decimal as string[]),
    '500000000000000000000000000000',
    `7${'0'.repeat(320)}`,
  ],
  double: [
    Number.NEGATIVE_INFINITY,
    -Number.MAX_VALUE,
    -0.5,
    -0,
    0,
    Number.MIN_VALUE,
    0.1,
    Number.MAX_VALUE,
    Number.POSITIVE_INFINITY,
    Number.NaN,
  ],
  float: [
    Number.NEGATIVE_INFINITY,
    -(2 ** 100),
    -0.5,
    -0,
    0,
    2 ** -149,
    0.5,
    2 ** 100,
    Number.POSITIVE_INFINITY,
    Number.NaN,
  ],
  text: ['', '\0', 'a', 'a\0', 'ab', 'b', '\ud7ff', '\ue000', '\uff5e', '\u{10000}', '\u{10ffff}'],
  time: ['00:00:00.000000000', '00:00:00.000000001', '08:30:00.000000000', '08:30:00.500000000', '23:59:59.999999999'],
  timestamp: [-8.64e15, -1, 0, 1, 1594279800000, 253402300799999, 8.64e15].map((ms) => new Date(ms)),
  uuid: [
    '00000000-0000-0000-0000-000000000000',
    ...(MODEL_VALUES.uuid as string[]),
    'ffffffff-ffff-ffff-ffff-ffffffffffff',
  ],
  varint: [`-1${'0'.repeat(320)}`, ...(MODEL_VALUES.varint as string[]), `1${'0'.repeat(320)}`],
};

/** One of the ways in which a caller may write a value. */
export function asCaller(type: CqlKeyType, value: CqlValue, dice: Dice): unknown {
  return dice.pick([() => value, () => asDriver(type, value, dice), () => otherNotation(type, value)])();
}

function otherNotation(type: CqlKeyType, value: CqlValue): unknown {
  switch (type) {
    case 'tinyint':
    case 'smallint':
    case 'int':
    case 'bigint':
    case 'varint':
      return BigInt(String(value)) >= 0n ? `+00${value}` : BigInt(String(value));
    case 'decimal':
      return `${value}0e0`.replace(/^(-?\d+)0e0$/, '$1.0E0');
    case 'blob':
      return new Uint8Array(value as Buffer);
    case 'date':
      return new Date(`${value}T23:59:59.999Z`);
    case 'time':
      return String(value).replace(/\.?0+$/, '');
    case 'timestamp':
      return (value as Date).getTime();
    case 'timeuuid':
    case 'uuid':
      return String(value).toUpperCase();
    default:
      return value;
  }
}

/** The same value as the driver answers it, in one of the classes that its encoding options let it choose. */
export function asDriver(type: CqlKeyType, value: CqlValue, dice: Dice): unknown {
  const text = String(value);
  switch (type) {
    case 'bigint':
      return dice.chance(0.5) ? types.Long.fromString(text) : BigInt(text);
    case 'varint':
      return dice.chance(0.5) ? types.Integer.fromString(text) : BigInt(text);
    case 'decimal':
      return dice.chance(0.5) ? types.BigDecimal.fromString(text) : withFewestDigits(text);
    case 'date':
      return types.LocalDate.fromString(text);
    case 'time':
      return types.LocalTime.fromString(text);
    case 'timeuuid':
      return types.TimeUuid.fromString(text);
    case 'uuid':
      return types.Uuid.fromString(text);
    default:
      return value;
  }
}

/** As Java and Python write 500: 5E+2, which has a negative scale. */
function withFewestDigits(text: string): types.BigDecimal {
  const zeros = text.includes('.') || text === '0' ? 0 : /0*$/.exec(text)![0].length;
  const scale = Buffer.alloc(4);
  scale.writeInt32BE(-zeros);
  const digits = types.Integer.toBuffer(types.Integer.fromString(text.slice(0, text.length - zeros)));
  return zeros === 0 ? types.BigDecimal.fromString(text) : types.BigDecimal.fromBuffer(Buffer.concat([scale, digits]));
}
