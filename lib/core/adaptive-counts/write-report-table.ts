import type { AttributeValue, DynamoDbItem } from '../aws-client/attribute-value';
import { checkItemFormat } from '../kernel/format-version';

/** The names of the attributes of a report. The attributes contain numbers of write units. */
export const ADMITTED = 'admitted';
export const THROTTLED = 'throttled';

const MINUTE_LENGTH = '2026-11-21T20:54'.length;

/** The text with which the sort keys of all reports of a minute begin. */
export function minuteText(startMs: number): string {
  return new Date(startMs).toISOString().slice(0, MINUTE_LENGTH);
}

/** The sort key of the report of a value. The value is undefined if the index has no value attribute. */
export function reportKey(startMs: number, value: string | undefined): string {
  return `${minuteText(startMs)}${value === undefined ? '*' : `=${value}`}`;
}

/** The sum of the reports of all writers about a value in a minute. */
export interface WriteReport {
  readonly value: string | undefined;
  readonly start: number;
  readonly admitted: number;
  readonly throttled: number;
}

/** Parses a report. Undefined if the item is not a report. */
export function reportOf(key: string, item: DynamoDbItem): WriteReport | undefined {
  checkItemFormat('write report', item);
  const start = Date.parse(`${key.slice(0, MINUTE_LENGTH)}Z`);
  const [admitted, throttled] = [numberOf(item[ADMITTED]), numberOf(item[THROTTLED])];
  const name = key.slice(MINUTE_LENGTH);
  const isNamed = name === '*' || name.startsWith('=');
  const isCounted = [start, admitted, throttled].every((number) => Number.isFinite(number) && number >= 0);
  if (!isNamed || !isCounted) return undefined;
  return { value: name === '*' ? undefined : name.slice(1), start, admitted, throttled };
}

function numberOf(attribute: AttributeValue | undefined): number {
  const { N: number } = Object(attribute);
  return typeof number === 'string' ? Number(number) : Number.NaN;
}
