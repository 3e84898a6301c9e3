import { isRecord } from '../../kernel/checks';
import { InvalidArgumentError } from '../../kernel/errors';

/**
 * A number of up to 38 digits; DynamoDB itself checks its magnitude. Source: the DynamoDB developer guide, "Data
 * types".
 */
const NUMBER = /^[+-]?(?=\.?\d)\d{0,126}(?:\.\d{0,130})?(?:[eE][+-]?\d{1,3})?$/;

/** Source: the DynamoDB developer guide, "Quotas". */
const MAX_NESTING = 32;

/**
 * The maximum size of a key attribute of a table or an index, in bytes: of a partition key attribute, and of a sort key attribute.
 * Source: the DynamoDB developer guide, "Quotas".
 */
export const MAX_KEY_BYTES = { partition: 2_048, sort: 1_024 } as const;

/** Whether this is the text of a number that DynamoDB accepts. */
export function isNumberText(value: unknown): value is string {
  return typeof value === 'string' && NUMBER.test(value);
}

/** Whether an integer is 2^53 or more, so that JavaScript may have rounded another integer to this integer. */
export function isUnsafeInteger(value: unknown): boolean {
  return Number.isInteger(value) && !Number.isSafeInteger(value);
}

export const UNSAFE_INTEGER_ALLOWED = 'a number below 2^53, or the digits of a larger one as { N: digits }';

/** @throws InvalidArgumentError if `value` is not an attribute value of DynamoDB; later code does not check the value again */
export function checkAttributeValue(field: string, value: unknown): void {
  if (isValue(value, MAX_NESTING)) return;
  const allowed = `an attribute value of one type, such as {"S":"text"}, nested at most ${MAX_NESTING} levels deep`;
  throw new InvalidArgumentError(field, value, allowed);
}

type Check = (content: unknown, levels: number) => boolean;

const isText: Check = (content) => typeof content === 'string';
const isBinary: Check = (content) => content instanceof Uint8Array;
const isBoolean: Check = (content) => typeof content === 'boolean';
const isSet =
  (isMember: Check): Check =>
  (content, levels) =>
    Array.isArray(content) && content.every((member) => isMember(member, levels));

const CHECKS: Readonly<Record<string, Check>> = {
  S: isText,
  N: isNumberText,
  B: isBinary,
  BOOL: isBoolean,
  NULL: isBoolean,
  SS: isSet(isText),
  NS: isSet(isNumberText),
  BS: isSet(isBinary),
  L: isSet((member, levels) => isValue(member, levels - 1)),
  M: (content, levels) => isRecord(content) && Object.values(content).every((member) => isValue(member, levels - 1)),
};

function isValue(value: unknown, levels: number): boolean {
  if (levels < 0 || !isRecord(value)) return false;
  const [type = '', ...others] = Object.keys(value);
  return others.length === 0 && Object.hasOwn(CHECKS, type) && CHECKS[type]!(value[type], levels);
}
