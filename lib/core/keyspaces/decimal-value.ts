/** A decimal number of any size, as Java's `BigDecimal` compares it: 0.00120 is 1, -2, "12". Zero has sign 0. */
export interface DecimalValue {
  readonly sign: -1 | 0 | 1;
  /**
   * How many digits the number has before its decimal point, counted from its first digit that is not zero; negative for
   * zeros after the point.
   */
  readonly exponent: number;
  /** The digits without zeros at either end. */
  readonly digits: string;
}

/** A number with more zeros than this before or after its digits is written with an exponent. */
const MOST_ZEROS = 2_000;

const ZERO: DecimalValue = { sign: 0, exponent: 0, digits: '' };

/** A part of a row's key has at most 64 KiB. Source: the CQL binary protocol, the length of a clustering value. */
const MOST_DIGITS = 160_000;

const DECIMAL = /^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d{1,10}))?$/;

/** A number in decimal digits, with an exponent or without; undefined for anything else. */
export function decimalOfText(text: string): DecimalValue | undefined {
  const match = text.length > MOST_DIGITS ? null : DECIMAL.exec(text);
  if (match === null) return undefined;
  const [, sign, whole = '', fraction = '', exponent = '0'] = match;
  if (whole === '' && fraction === '') return undefined;
  return decimalOf(sign === '-', whole + fraction, Number(exponent) + whole.length);
}

function decimalOf(isNegative: boolean, all: string, exponent: number): DecimalValue {
  let [first, end] = [0, all.length];
  while (all[first] === '0') first++;
  while (end > first && all[end - 1] === '0') end--;
  if (first === end) return ZERO;
  return { sign: isNegative ? -1 : 1, exponent: exponent - first, digits: all.slice(first, end) };
}

/** The one text of a number: only digits, or with an exponent if there would be more than 2,000 zeros. */
export function decimalText({ sign, exponent, digits }: DecimalValue): string {
  if (sign === 0) return '0';
  const minus = sign < 0 ? '-' : '';
  const [zerosBefore, zerosBehind] = [-exponent, exponent - digits.length];
  if (zerosBefore > MOST_ZEROS || zerosBehind > MOST_ZEROS) return `${minus}${digits}E${zerosBehind}`;
  if (exponent <= 0) return `${minus}0.${'0'.repeat(zerosBefore)}${digits}`;
  const [whole, fraction] = [digits.slice(0, exponent).padEnd(exponent, '0'), digits.slice(exponent)];
  return `${minus}${whole}${fraction === '' ? '' : `.${fraction}`}`;
}

export function compareDecimals(a: DecimalValue, b: DecimalValue): number {
  if (a.sign !== b.sign) return a.sign - b.sign;
  return (a.exponent - b.exponent || Number(a.digits > b.digits) - Number(a.digits < b.digits)) * a.sign;
}
