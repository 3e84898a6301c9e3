import { InvalidInputError } from '../../invalid-input-error';
import { type SampleRecord, sampleRecords } from '../../samples/sample-records';

/** The values of one field, or of a pair, record by record. */
export interface FieldValues {
  readonly name: string;
  /** Each value, in the order in which they appeared. */
  readonly values: readonly string[];
  /** For each record, the index of its value in `values`. */
  readonly ofRecord: Uint32Array;
  /** Whether every value is a date, or a date with a time, in ISO 8601. */
  readonly isTime: boolean;
  /** Whether the values are times of another field, rounded to the minute, hour or day. */
  readonly isRounded?: boolean;
}

export interface FieldSamples {
  readonly records: number;
  readonly bytes: number;
  /** The fields that every record has, as a text, a number or a boolean. */
  readonly fields: readonly FieldValues[];
}

interface Column {
  readonly numbers: Map<string, number>;
  readonly ofRecord: number[];
  isTime: boolean;
}

/** The maximum number of fields. The command compares every pair of fields, which would take hours for more fields. */
const MAX_FIELDS = 100;

const ISO_TIME = /^\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?)?$/;

/**
 * Reads the fields of a sample. It keeps each distinct value once, and a number for each record and field.
 *
 * @throws InvalidInputError with the file and the line of an invalid record
 */
export async function readFields(
  files: readonly string[],
  onProgress?: (records: number) => void,
): Promise<FieldSamples> {
  const columns = new Map<string, Column>();
  let [records, bytes] = [0, 0];
  for await (const line of sampleRecords(files)) {
    addRecord(columns, line, records);
    records += 1;
    bytes += line.bytes;
    if (records % 100_000 === 0) onProgress?.(records);
  }
  const fields = [...columns].flatMap(([name, { numbers, ofRecord, isTime }]) =>
    ofRecord.length === records
      ? [{ name, values: [...numbers.keys()], ofRecord: Uint32Array.from(ofRecord), isTime }]
      : [],
  );
  return { records, bytes, fields: inOrderOfTime(fields) };
}

/** A field that a record lacks cannot be a key of a table. The first record without the field excludes the field. */
function addRecord(columns: Map<string, Column>, { event, file, line }: SampleRecord, record: number): void {
  for (const [name, value] of Object.entries(event)) {
    if (!['string', 'number', 'boolean'].includes(typeof value) || value === '') continue;
    if (record === 0) columns.set(name, { numbers: new Map(), ofRecord: [], isTime: true });
    const column = columns.get(name);
    if (column?.ofRecord.length !== record) continue;
    const text = String(value);
    const number = column.numbers.get(text) ?? column.numbers.size;
    column.numbers.set(text, number);
    column.ofRecord.push(number);
    column.isTime &&= typeof value === 'string' && ISO_TIME.test(text);
  }
  if (columns.size > MAX_FIELDS) {
    const problem = `has ${columns.size} fields that may be keys, and at most ${MAX_FIELDS} are compared`;
    throw new InvalidInputError(`${file}, line ${line}: ${problem}: name one with --key`);
  }
}

/** The records in the order of the first field with times. If no field has times, the records are in the order of the file. */
function inOrderOfTime(fields: readonly FieldValues[]): FieldValues[] {
  const time = fields.find(({ isTime }) => isTime);
  if (time === undefined) return [...fields];
  const ranks = new Uint32Array(time.values.length);
  const byTime = time.values.map((value, number) => ({ at: Date.parse(value), number }));
  byTime
    .sort((a, b) => a.at - b.at)
    .forEach(({ number }, rank) => {
      ranks[number] = rank;
    });
  const order = Uint32Array.from(time.ofRecord, (_, record) => record);
  order.sort((a, b) => ranks[time.ofRecord[a]!]! - ranks[time.ofRecord[b]!]! || a - b);
  return fields.map((field) => ({ ...field, ofRecord: order.map((record) => field.ofRecord[record]!) }));
}

/** A field of times, each cut to `length` characters: to its minute, hour or day. */
export function rounded(field: FieldValues, name: string, length: number): FieldValues {
  const numbers = new Map<string, number>();
  const numberOf = field.values.map((value) => {
    const text = value.slice(0, length);
    const number = numbers.get(text) ?? numbers.size;
    numbers.set(text, number);
    return number;
  });
  return {
    name,
    values: [...numbers.keys()],
    ofRecord: field.ofRecord.map((number) => numberOf[number]!),
    isTime: true,
    isRounded: true,
  };
}

/** Combines two fields into a partition key of two attributes. */
export function paired(a: FieldValues, b: FieldValues): FieldValues {
  const numbers = new Map<number, number>();
  const values: string[] = [];
  const ofRecord = a.ofRecord.map((first, record) => {
    const second = b.ofRecord[record]!;
    const both = first * b.values.length + second;
    const known = numbers.get(both);
    if (known !== undefined) return known;
    numbers.set(both, values.length);
    return values.push(`${a.values[first]} + ${b.values[second]}`) - 1;
  });
  return { name: `${a.name} + ${b.name}`, values, ofRecord, isTime: false };
}
