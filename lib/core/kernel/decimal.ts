import { describeValue, EvenShardsError } from './errors';

/**
 * A decimal number: its sign, the position of its first digit, and its digits. For example, 0.00120 has the sign 1, the exponent
 * -2 and the digits "12". The sign of zero is 0.
 */
export interface Decimal {
  readonly sign: -1 | 0 | 1;
  /**
   * The number of digits before the decimal point, without leading zeros. If there is no digit before the point, minus the
   * number of zeros directly after the point.
   */
  readonly exponent: number;
  /** The digits without zeros at either end. */
  readonly digits: string;
}

/** Compares two decimal numbers exactly. Each number may be in any notation that DynamoDB accepts. */
export function compareNumbers(a: string, b: string): number {
  return compareDecimals(parseDecimal(a), parseDecimal(b));
}

export function compareDecimals(a: Decimal, b: Decimal): number {
  if (a.sign !== b.sign) return a.sign - b.sign;
  return (a.exponent - b.exponent || Number(a.digits > b.digits) - Number(a.digits < b.digits)) * a.sign;
}

/**
 * Converts a number to the notation in which DynamoDB returns it: without an exponent, and without leading and trailing zeros.
 * For example, 1e3 becomes 1000.
 */
export function plainDecimal(text: string): string {
  return decimalText(parseDecimal(text));
}

/**
 * The canonical text of a number. The text has an exponent only if the notation without an exponent needs more than `mostZeros`
 * additional zeros.
 */
export function decimalText({ sign, exponent, digits }: Decimal, mostZeros = Number.POSITIVE_INFINITY): string {
  if (sign === 0) return '0';
  const minus = sign < 0 ? '-' : '';
  const [zerosBefore, zerosBehind] = [-exponent, exponent - digits.length];
  if (zerosBefore > mostZeros || zerosBehind > mostZeros) return `${minus}${digits}E${zerosBehind}`;
  if (exponent <= 0) return `${minus}0.${'0'.repeat(zerosBefore)}${digits}`;
  const [whole, fraction] = [digits.slice(0, exponent).padEnd(exponent, '0'), digits.slice(exponent)];
  return `${minus}${whole}${fraction === '' ? '' : `.${fraction}`}`;
}

/** The longest text that `numberBytes` parses, in characters. The numbers of DynamoDB are shorter. */
const MAX_NUMBER_LENGTH = 300;

/**
 * The number of bytes that DynamoDB counts for a number: one byte for each number, one byte for each pair of digits, and one
 * byte for a minus sign. The pairs start at the decimal point. For a text that is not a number, returns its length.
 *
 * Sources: the developer guide (an approximation), and the authors of dynalite, who measured the pairs and the minus sign on
 * AWS.
 */
export function numberBytes(text: string): number {
  const decimal = text.length > MAX_NUMBER_LENGTH ? undefined : decimalOfText(text.trim());
  if (decimal === undefined) return text.length;
  const { sign, exponent, digits } = decimal;
  return 1 + Math.ceil((digits.length + Math.abs(exponent % 2)) / 2) + Number(sign < 0);
}

/** The maximum number of significant digits of a number in DynamoDB. Source: the DynamoDB developer guide, "Data types". */
const MAX_DIGITS = 38;

/** The smallest positive number that DynamoDB can store. */
const LEAST = '1E-130';

/**
 * If the exponent of a number is below this bound, the neighbour of the number could be nearer to zero than DynamoDB's smallest
 * number.
 */
const LEAST_EXPONENT = -90;

/**
 * The neighbour of a number among the numbers that DynamoDB can store. Direction 1 returns the next larger number, direction -1
 * the next smaller number.
 *
 * @returns undefined if the number has more than 38 digits, or may have no neighbour because it is close to zero or to the
 *   largest number
 */
export function nextNumber(text: string, direction: 1 | -1): string | undefined {
  const { sign, exponent, digits } = parseDecimal(text);
  if (sign === 0) return direction === 1 ? LEAST : `-${LEAST}`;
  if (digits.length > MAX_DIGITS || Math.abs(exponent) > -LEAST_EXPONENT) return undefined;
  const magnitude = BigInt(digits.padEnd(MAX_DIGITS, '0'));
  const powerOfTen = digits === '1';
  let [next, scale] = [magnitude + 1n, exponent - MAX_DIGITS];
  if (sign !== direction) {
    // Below a power of ten, the distance between neighbours is ten times smaller.
    [next, scale] = powerOfTen ? [magnitude * 10n - 1n, scale - 1] : [magnitude - 1n, scale];
  }
  return `${sign < 0 ? '-' : ''}${next}E${scale}`;
}

/**
 * Returns a JavaScript number if that number is exactly the number in the text; otherwise returns the text.
 *
 * @throws EvenShardsError with the code NOT_A_NUMBER if the text is not a decimal number
 */
export function exactNumber(text: string): number | string {
  const number = Number(text);
  const mayBeExact = Number.isFinite(number) && (!Number.isInteger(number) || Number.isSafeInteger(number));
  const isExact = compareNumbers(mayBeExact ? String(number) : '0', text) === 0 && mayBeExact;
  return isExact ? number : text;
}

/** The longest text that `parseDecimal` parses, in characters. DynamoDB returns only shorter numbers. */
const MAX_LENGTH = 4_096;

function parseDecimal(text: string): Decimal {
  const decimal = text.length > MAX_LENGTH ? undefined : decimalOfText(text.trim());
  if (decimal === undefined) {
    const summary = 'expected a decimal number';
    throw new EvenShardsError('NOT_A_NUMBER', `${summary}, got ${describeValue(text)}`, { summary });
  }
  return decimal;
}

/** A decimal number: an optional sign, at least one digit, an optional decimal point, and an optional exponent. */
const DECIMAL = /^([+-]?)(?=\.?\d)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d{1,10}))?$/;

/** Parses a decimal number, with or without an exponent. Undefined if the text is not a decimal number. */
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
