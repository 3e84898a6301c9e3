import { describeValue, EvenShardsError } from './errors';

/**
 * A decimal number as its sign, the position of its first digit, and its digits: 0.00120 is 1, -2, "12". Zero has sign
 * 0.
 */
export interface Decimal {
  readonly sign: -1 | 0 | 1;
  /**
   * How many digits the number has before its decimal point, counted from its first digit that is not zero; negative for
   * zeros after the point.
   */
  readonly exponent: number;
  /** The digits without zeros at either end. */
  readonly digits: string;
}

/** Compares two decimal numbers exactly. Each may be in any notation that DynamoDB accepts. */
export function compareNumbers(a: string, b: string): number {
  return compareDecimals(parseDecimal(a), parseDecimal(b));
}

export function compareDecimals(a: Decimal, b: Decimal): number {
  if (a.sign !== b.sign) return a.sign - b.sign;
  return (a.exponent - b.exponent || Number(a.digits > b.digits) - Number(a.digits < b.digits)) * a.sign;
}

/** A decimal number without an exponent and without needless zeros, as DynamoDB returns it: 1e3 becomes 1000. */
export function plainDecimal(text: string): string {
  return decimalText(parseDecimal(text));
}

/** The one text of a number: only digits, or with an exponent if more than `mostZeros` would stand before or after its digits. */
export function decimalText({ sign, exponent, digits }: Decimal, mostZeros = Number.POSITIVE_INFINITY): string {
  if (sign === 0) return '0';
  const minus = sign < 0 ? '-' : '';
  const [zerosBefore, zerosBehind] = [-exponent, exponent - digits.length];
  if (zerosBefore > mostZeros || zerosBehind > mostZeros) return `${minus}${digits}E${zerosBehind}`;
  if (exponent <= 0) return `${minus}0.${'0'.repeat(zerosBefore)}${digits}`;
  const [whole, fraction] = [digits.slice(0, exponent).padEnd(exponent, '0'), digits.slice(exponent)];
  return `${minus}${whole}${fraction === '' ? '' : `.${fraction}`}`;
}

/** The numbers of DynamoDB are shorter than this. */
const MAX_NUMBER_LENGTH = 300;

/**
 * The bytes that DynamoDB counts for a number: one, and one for each pair of digits, grouped from the decimal point, and
 * one for a minus sign. A text that is not a number counts its length. Source: the developer guide gives an approximation;
 * the authors of dynalite found the grouping and the minus sign on AWS.
 */
export function numberBytes(text: string): number {
  const decimal = text.length > MAX_NUMBER_LENGTH ? undefined : decimalOfText(text.trim());
  if (decimal === undefined) return text.length;
  const { sign, exponent, digits } = decimal;
  return 1 + Math.ceil((digits.length + Math.abs(exponent % 2)) / 2) + Number(sign < 0);
}

/** The most significant digits that DynamoDB keeps of a number. Source: the DynamoDB developer guide, "Data types". */
const MAX_DIGITS = 38;

/** The smallest positive number of DynamoDB. */
const LEAST = '1E-130';

/** Nearer to zero than this exponent, the neighbours of a number could be smaller than the smallest number. */
const LEAST_EXPONENT = -90;

/**
 * The next number that DynamoDB can hold: above `text` in direction 1, below it in direction -1. No number that it can
 * hold lies between them.
 *
 * @returns undefined for a number of more than 38 digits, or too near to zero or to the largest number to be sure
 */
export function nextNumber(text: string, direction: 1 | -1): string | undefined {
  const { sign, exponent, digits } = parseDecimal(text);
  if (sign === 0) return direction === 1 ? LEAST : `-${LEAST}`;
  if (digits.length > MAX_DIGITS || Math.abs(exponent) > -LEAST_EXPONENT) return undefined;
  const magnitude = BigInt(digits.padEnd(MAX_DIGITS, '0'));
  const powerOfTen = digits === '1';
  let [next, scale] = [magnitude + 1n, exponent - MAX_DIGITS];
  if (sign !== direction) {
    // Below a power of ten, numbers have one more digit after the point.
    [next, scale] = powerOfTen ? [magnitude * 10n - 1n, scale - 1] : [magnitude - 1n, scale];
  }
  return `${sign < 0 ? '-' : ''}${next}E${scale}`;
}

/**
 * A number as JavaScript holds it, or as text if JavaScript cannot hold it exactly.
 *
 * @throws EvenShardsError with the code NOT_A_NUMBER if the text is not a decimal number
 */
export function exactNumber(text: string): number | string {
  const number = Number(text);
  const mayBeExact = Number.isFinite(number) && (!Number.isInteger(number) || Number.isSafeInteger(number));
  const isExact = compareNumbers(mayBeExact ? String(number) : '0', text) === 0 && mayBeExact;
  return isExact ? number : text;
}

/** DynamoDB writes no longer numbers. */
const MAX_LENGTH = 4_096;

function parseDecimal(text: string): Decimal {
  const decimal = text.length > MAX_LENGTH ? undefined : decimalOfText(text.trim());
  if (decimal === undefined) {
    const summary = 'expected a decimal number';
    throw new EvenShardsError('NOT_A_NUMBER', `${summary}, got ${describeValue(text)}`, { summary });
  }
  return decimal;
}

/** A sign, digits with a decimal point or without, and an exponent. There is at least one digit before the exponent. */
const DECIMAL = /^([+-]?)(?=\.?\d)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d{1,10}))?$/;

/** A number in decimal digits, with an exponent or without; undefined for anything else. */
export function decimalOfText(text: string): Decimal | undefined {
  const match = DECIMAL.exec(text);
  if (match === null) return undefined;
  const [, sign, whole = '', fraction = '', exponent = '0'] = match;
  const all = whole + fraction;
  let [first, end] = [0, all.length];
  while (all[first] === '0') first += 1;
  while (end > first && all[end - 1] === '0') end -= 1;
  if (first === end) return { sign: 0, exponent: 0, digits: '' };
  return {
    sign: sign === '-' ? -1 : 1,
    exponent: Number(exponent) + whole.length - first,
    digits: all.slice(first, end),
  };
}
