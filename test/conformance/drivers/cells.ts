/** The type of a value in a program: a string, bytes, a parsed JSON object, a UUID or a number. */
type Kind = 'text' | 'bytes' | 'json' | 'jsonb' | 'uuid' | 'int' | 'bigint' | 'decimal';

/** How a program passes a key or data: the type of the value in the program, and the type in the statement. */
interface Form {
  readonly kind: Kind;
  readonly cast?: string;
}

/** A parameter of a statement. Bytes are base64. */
export interface Parameter {
  readonly kind: Kind;
  readonly value: string | null | readonly (string | null)[];
}

/** A row that a statement stores. The type jsonb changes the white space of JSON. */
export interface Row {
  readonly data: Buffer | { readonly json: unknown };
  readonly type?: string;
  readonly topic?: string;
  readonly headers?: Record<string, string>;
}

/** A statement with the rows that it stores. A statement stores no row if its value does not fit its type. */
export interface Cell {
  readonly call: string;
  readonly key: string;
  readonly data: string;
  readonly value: Value;
  readonly sql: string;
  readonly parameters: readonly Parameter[];
  readonly partitionKey: string;
  readonly rows: readonly Row[];
}

interface Value {
  readonly name: string;
  readonly text?: string;
  readonly bytes?: Buffer;
}

const TEXTS: readonly Value[] = Object.entries({
  'a path in JSON': '{"path":"C:\\\\temp\\\\new"}',
  'a regular expression in JSON': '{"re": "\\\\d+",  "a":1}',
  'quotes in JSON': '{"q":"\\"it\'s\\""}',
  'an emoji in JSON': '{"e":"🧾é"}',
  '100 kB of JSON': JSON.stringify({ large: 'é\\x'.repeat(25_000) }),
  'NUL as an escape in JSON': '{"a":"\\u0000"}',
  'a text like bytes in hexadecimal': '\\x41',
  'two backslashes': '\\\\',
  'one backslash': '\\',
  'an octal escape': '\\101',
  'an emoji': '🧾',
  'an empty text': '',
  'the text NULL': 'NULL',
  'a text like an array': '{a,"b c",NULL}',
  'white space': ' a\t\n\r ',
  placeholders: '%s $1 ? :p1 %%',
  'a text with NUL': 'a\0b',
}).map(([name, text]) => ({ name, text }));

const BYTES: readonly Value[] = Object.entries({
  JSON: Buffer.from('{"path":"C:\\\\temp","e":"🧾"}'),
  NUL: Buffer.from([0]),
  'invalid UTF-8': Buffer.from([0xff, 0xfe, 0x41]),
  'each byte': Buffer.from(Array.from({ length: 256 }, (_, byte) => byte)),
  '100 kB': Buffer.alloc(100_000, Buffer.from([0, 1, 0x5c, 0xff])),
  'no bytes': Buffer.alloc(0),
  ASCII: Buffer.from('A'),
  backslashes: Buffer.from('\\x41\\\\'),
}).map(([name, bytes]) => ({ name, bytes }));

/** Without a cast in the statement, the driver chooses the type of the parameter, or sends no type. */
const DATA: Readonly<Record<string, Form>> = {
  text: { kind: 'text' },
  'text::text': { kind: 'text', cast: 'text' },
  'text::varchar': { kind: 'text', cast: 'varchar' },
  'text::json': { kind: 'text', cast: 'json' },
  'text::jsonb': { kind: 'text', cast: 'jsonb' },
  json: { kind: 'json' },
  jsonb: { kind: 'jsonb' },
  'jsonb::jsonb': { kind: 'jsonb', cast: 'jsonb' },
  bytes: { kind: 'bytes' },
  'bytes::bytea': { kind: 'bytes', cast: 'bytea' },
};

const KEYS: Readonly<Record<string, Form>> = {
  text: { kind: 'text' },
  'text::text': { kind: 'text', cast: 'text' },
  'text::varchar': { kind: 'text', cast: 'varchar' },
  'text::uuid': { kind: 'text', cast: 'uuid' },
  uuid: { kind: 'uuid' },
  'uuid::uuid': { kind: 'uuid', cast: 'uuid' },
  int: { kind: 'int' },
  'int::int': { kind: 'int', cast: 'int' },
  bigint: { kind: 'bigint' },
  'bigint::bigint': { kind: 'bigint', cast: 'bigint' },
};

interface Call {
  readonly name: string;
  readonly isOfArrays?: boolean;
  /** Returns the statement for a key and data. The placeholders of further parameters begin with `$3`. */
  readonly sql: (key: string, data: string) => string;
  readonly further?: readonly Parameter[];
  readonly attributes?: Omit<Row, 'data'>;
}

const HEADERS = { trace: 'a\\"b', empty: '' };
const ATTRIBUTES = { type: 'order\\placed', headers: HEADERS, topic: 'orders' };
const one = (value: string | null, kind: Kind = 'text'): Parameter => ({ kind, value });
const two = (value: string | null, kind: Kind = 'text'): Parameter => ({ kind, value: [value, value] });
const NO_TEXT = one(null, 'decimal');
const headers = JSON.stringify(HEADERS);

/** Calls that the test repeats for each form and each value of data, and for each form of a key. */
const CALLS: readonly Call[] = [
  { name: 'put', sql: (k, d) => `SELECT outbox.put(${k}, ${d})` },
  { name: 'put_all', isOfArrays: true, sql: (k, d) => `SELECT outbox.put_all(${k}, ${d})` },
  { name: 'INSERT data', sql: (k, d) => `INSERT INTO outbox.message (partition_key, data) VALUES (${k}, ${d})` },
  { name: 'INSERT bytes', sql: (k, d) => `INSERT INTO outbox.message (partition_key, bytes) VALUES (${k}, ${d})` },
];

/** Calls with more arguments. The test uses each form of a parameter once. */
const LONG_CALLS: readonly Call[] = [
  {
    name: 'put by names',
    sql: (k, d) => `SELECT outbox.put(${k}, ${d}, type => $3, headers => $4, topic => $5)`,
    further: [one(ATTRIBUTES.type), one(headers), one(ATTRIBUTES.topic)],
    attributes: ATTRIBUTES,
  },
  {
    name: 'put with headers as json',
    sql: (k, d) => `SELECT outbox.put(partition_key => ${k}, data => ${d}, headers => $3)`,
    further: [one(headers, 'json')],
    attributes: { headers: HEADERS },
  },
  {
    name: 'put with headers::jsonb',
    sql: (k, d) => `SELECT outbox.put(${k}, ${d}, headers => $3::jsonb)`,
    further: [one(headers, 'jsonb')],
    attributes: { headers: HEADERS },
  },
  {
    name: 'put by places',
    sql: (k, d) => `SELECT outbox.put(${k}, ${d}, $3, $4, $5, $6)`,
    further: [one('7', 'decimal'), one(ATTRIBUTES.type), one(headers), one(ATTRIBUTES.topic)],
    attributes: ATTRIBUTES,
  },
  {
    name: 'put by places with an int',
    sql: (k, d) => `SELECT outbox.put(${k}, ${d}, $3, $4)`,
    further: [one('7', 'int'), one(ATTRIBUTES.type)],
    attributes: { type: ATTRIBUTES.type },
  },
  {
    name: 'put by places with nulls',
    sql: (k, d) => `SELECT outbox.put(${k}, ${d}, $3, $4, $5, $6)`,
    further: [one(null, 'decimal'), one(null), one(null), one(null)],
  },
  {
    name: 'put_all by names',
    isOfArrays: true,
    sql: (k, d) => `SELECT outbox.put_all(${k}, ${d}, types => $3, headers => $4, topics => $5)`,
    further: [two(ATTRIBUTES.type), two(headers), two(ATTRIBUTES.topic)],
    attributes: ATTRIBUTES,
  },
  {
    name: 'put_all with headers as json',
    isOfArrays: true,
    sql: (k, d) => `SELECT outbox.put_all(${k}, ${d}, headers => $3)`,
    further: [two(headers, 'json')],
    attributes: { headers: HEADERS },
  },
  {
    name: 'put_all by places',
    isOfArrays: true,
    sql: (k, d) => `SELECT outbox.put_all(${k}, ${d}, $3, $4, $5, $6)`,
    further: [two('7', 'decimal'), two(ATTRIBUTES.type), two(headers), two(ATTRIBUTES.topic)],
    attributes: ATTRIBUTES,
  },
  {
    name: 'put_all by places with nulls',
    isOfArrays: true,
    sql: (k, d) => `SELECT outbox.put_all(${k}, ${d}, $3, $4, $5, $6)`,
    further: [two(null, 'decimal'), two(null), NO_TEXT, two(null)],
  },
  {
    name: 'INSERT data and attributes',
    sql: (k, d) =>
      `INSERT INTO outbox.message (partition_key, data, type, headers, topic) VALUES (${k}, ${d}, $3, $4, $5)`,
    further: [one(ATTRIBUTES.type), one(headers), one(ATTRIBUTES.topic)],
    attributes: ATTRIBUTES,
  },
  {
    name: 'INSERT data and headers as json',
    sql: (k, d) => `INSERT INTO outbox.message (partition_key, data, headers) VALUES (${k}, ${d}, $3)`,
    further: [one(headers, 'json')],
    attributes: { headers: HEADERS },
  },
  {
    name: 'INSERT bytes and attributes',
    sql: (k, d) =>
      `INSERT INTO outbox.message (partition_key, bytes, type, headers, topic) VALUES (${k}, ${d}, $3, $4, $5)`,
    further: [one(ATTRIBUTES.type), one(headers), one(ATTRIBUTES.topic)],
    attributes: ATTRIBUTES,
  },
];

/** All cells (statements with their rows) for one mode of a driver. The keys are numbered from `first`. */
export function cellsFrom(first: number): Cell[] {
  const cells: Cell[] = [];
  const add = (call: Call, key: string, data: string, value: Value): void => {
    const { kind } = DATA[data]!;
    if (call.name.startsWith('INSERT bytes') && kind !== 'bytes') return;
    cells.push(cellOf(call, key, data, value, first + cells.length));
  };
  for (const call of CALLS) {
    for (const [data, form] of Object.entries(DATA)) {
      for (const value of valuesOf(form)) add(call, 'text', data, value);
    }
  }
  for (const call of [...CALLS, ...LONG_CALLS]) {
    for (const key of Object.keys(KEYS)) {
      for (const [data, form] of Object.entries(DATA)) add(call, key, data, valuesOf(form)[0]!);
    }
  }
  for (const key of Object.keys(KEYS)) cells.push(lockOf(key));
  return cells;
}

function cellOf(call: Call, key: string, data: string, value: Value, number: number): Cell {
  const partitionKey = keyOf(key, number);
  const form = DATA[data]!;
  const shaped = (text: string) => (call.isOfArrays ? [text, text] : text);
  const ofRow = dataOf(form, value);
  const row = ofRow && { data: ofRow, ...call.attributes };
  return {
    call: call.name,
    key,
    data,
    value,
    sql: call.sql(`$1${castOf(KEYS[key]!, call.isOfArrays)}`, `$2${castOf(form, call.isOfArrays)}`),
    parameters: [
      { kind: KEYS[key]!.kind, value: shaped(partitionKey) },
      { kind: form.kind, value: shaped(value.bytes?.toString('base64') ?? value.text!) },
      ...(call.further ?? []),
    ],
    partitionKey,
    rows: row === undefined ? [] : call.isOfArrays ? [row, row] : [row],
  };
}

/** A cell that stores no row. */
function lockOf(key: string): Cell {
  return {
    call: 'lock',
    key,
    data: 'none',
    value: { name: 'none' },
    sql: `SELECT outbox.lock($1${castOf(KEYS[key]!, true)})`,
    parameters: [{ kind: KEYS[key]!.kind, value: [keyOf(key, 2), keyOf(key, 1)] }],
    partitionKey: 'none',
    rows: [],
  };
}

const castOf = ({ cast }: Form, isArray = false): string =>
  cast === undefined ? '' : `::${cast}${isArray ? '[]' : ''}`;

function keyOf(form: string, number: number): string {
  if (form.endsWith('uuid')) return `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`;
  return form.startsWith('text') ? `key ${number}` : String(number);
}

/** The stored data, or undefined if the value cannot have the type. */
function dataOf({ kind, cast = kind }: Form, { text, bytes }: Value): Row['data'] | undefined {
  if (bytes !== undefined) return bytes;
  if (text!.includes('\0') || (cast === 'jsonb' && text!.includes('\\u0000'))) return undefined;
  if (!cast.startsWith('json')) return Buffer.from(text!);
  try {
    const json: unknown = JSON.parse(text!);
    return cast === 'jsonb' || kind === 'json' ? { json } : Buffer.from(text!);
  } catch {
    return undefined;
  }
}

function valuesOf({ kind }: Form): readonly Value[] {
  if (kind === 'bytes') return BYTES;
  // The value is a parsed object, so its text can contain an escaped NUL.
  return kind === 'text' ? TEXTS : TEXTS.slice(0, 5);
}
