import { types } from 'cassandra-driver';
import fc from 'fast-check';
import { describeValue } from '../../../../lib/core/kernel/errors';
import { operandOf } from '../../../../lib/core/keyspaces/column-value';
import { CQL_KEY_TYPES, type CqlKeyType, keyTypeOf } from '../../../../lib/core/keyspaces/cql-key-type';
import { MODEL_VALUES } from '../../../support/fakes/fan-out-select-model';
import { randomRuns } from '../../../support/random-runs';

// Casts the bigint, because the type declaration of the driver accepts only numbers.
const decimal = (unscaled: bigint, scale: number) =>
  new types.BigDecimal(types.Integer.fromString(String(unscaled)) as never, scale);

const dayOf = (days: number) => types.LocalDate.fromString(String(days));

/** Values of each type, in ascending order as Cassandra orders them. */
const SORTED: [CqlKeyType, unknown[]][] = [
  ['decimal', ['-1.5', '-1.25', '-1', '-0.5', '.5', 1, '1.25', '1.5', '1E3']],
  ['double', [Number.NEGATIVE_INFINITY, -2, -1, -0, 0, 1, Number.POSITIVE_INFINITY, Number.NaN]],
  ['timestamp', ['-9000000000000000', -1, new Date(0), types.Long.ONE, '2020-07-09T08:30:00Z', 2n ** 63n - 1n]],
  ['date', [dayOf(-(2 ** 31)), '-100000001', '-0001-12-31', '0000-01-01', new Date(0), '100000001']],
  [
    'timeuuid',
    [
      '00000000-0000-1000',
      '00ffffff-0000-1000',
      '01000000-0000-1000',
      '00000000-0001-1000',
      '00000000-0000-1001',
      '00000000-0100-1001',
      '00000000-0000-1100',
    ].map((begin) => `${begin}-8000-000000000000`),
  ],
  [
    'uuid',
    [
      '01000000-0000-1000',
      '00000000-0000-1001',
      '00000000-0100-1001',
      '00000000-0000-1100',
      '00000000-0000-2000',
      '00000000-0001-2000',
      '01000000-0000-2000',
      '00000000-0000-3000',
    ].map((begin) => `${begin}-8000-000000000000`),
  ],
];

test.each([...Object.entries(MODEL_VALUES), ...SORTED] as typeof SORTED)(
  'values of the type %s have the same order as in Cassandra: %p',
  (type, values) => {
    const { textOf, rank, compare } = keyTypeOf(type);
    const ranks = values.map((value) => rank(textOf(value)!));
    const signs = ranks.map((a) => ranks.map((b) => Math.sign(compare(a, b)) + 0));
    expect(signs).toEqual(ranks.map((_, a) => ranks.map((_, b) => Math.sign(a - b))));
  },
);

test('a decimal has the same string at any scale, and decimals are ordered by their values', () => {
  const { textOf, rank, compare } = keyTypeOf('decimal');
  const parts = fc.record({
    unscaled: fc.bigInt({ min: -(10n ** 40n), max: 10n ** 40n }),
    scale: fc.integer({ min: -5_000, max: 5_000 }),
  });
  fc.assert(
    fc.property(parts, fc.integer({ min: 0, max: 20 }), ({ unscaled, scale }, zeros) => {
      const text = textOf(decimal(unscaled, scale))!;
      expect(textOf(decimal(unscaled * 10n ** BigInt(zeros), scale + zeros))).toBe(text);
      expect(textOf(text)).toBe(text);
    }),
  );
  fc.assert(
    fc.property(parts, parts, (a, b) => {
      const most = Math.max(a.scale, b.scale);
      const whole = ({ unscaled, scale }: typeof a) => unscaled * 10n ** BigInt(most - scale);
      const difference = whole(a) - whole(b);
      const [left, right] = [a, b].map(({ unscaled, scale }) => rank(textOf(decimal(unscaled, scale))!));
      expect(Math.sign(compare(left!, right!))).toBe(difference === 0n ? 0 : difference > 0n ? 1 : -1);
    }),
  );
});

test('if the driver cannot send a decimal as a parameter, the statement contains bytes that the driver reads as the same decimal', () => {
  fc.assert(
    fc.property(fc.bigInt(), fc.constantFrom(-(2 ** 31) + 400, -5_000, 5_000, 400_000_000), (unscaled, scale) => {
      const { textOf } = keyTypeOf('decimal');
      const text = textOf(decimal(unscaled, scale))!;
      const operand = operandOf({ name: 'c', type: 'decimal' }, { text, rank: text });
      if (!('literal' in operand)) return expect(unscaled).toBe(0n);
      const [, hex] = /^blobAsDecimal\(0x([0-9a-f]+)\)$/.exec(operand.literal)!;
      expect(textOf(types.BigDecimal.fromBuffer(Buffer.from(hex!, 'hex')))).toBe(text);
    }),
  );
  const time = operandOf({ name: 'c', type: 'timestamp' }, { text: '-9000000000000000', rank: 0 });
  expect(time).toEqual({ literal: `blobAsTimestamp(0x${BigInt.asUintN(64, -9_000_000_000_000_000n).toString(16)})` });
});

test.each([1_032n, 1_033n, 1_039n, 1_040n])(
  'the statement contains a varint of about %d bits with the minimum number of bytes, because the bytes of a partition key determine its token',
  (bits) => {
    const power = 2n ** bits;
    for (const number of [power - 1n, power, -power, -power - 1n]) {
      const operand = operandOf({ name: 'c', type: 'varint' }, { text: String(number), rank: number });
      const bytes = Buffer.from((operand as { literal: string }).literal.slice('blobAsVarint(0x'.length, -1), 'hex');
      expect(keyTypeOf('varint').textOf(types.Integer.fromBuffer(bytes))).toBe(String(number));
      // With one byte less, the sign would change.
      expect(['000000000', '111111111']).not.toContain(bytes.readUInt16BE().toString(2).padStart(16, '0').slice(0, 9));
    }
  },
);

test('every CQL date can be read and is ordered by its day', () => {
  const { textOf, rank } = keyTypeOf('date');
  fc.assert(
    fc.property(fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }), (days) => {
      const text = textOf(dayOf(days))!;
      expect(rank(text)).toBe(days);
      expect(textOf(text)).toBe(text);
      expect(types.LocalDate.fromString(text).toBuffer()).toEqual(dayOf(days).toBuffer());
    }),
  );
});

test.each<[CqlKeyType, bigint]>([
  ['tinyint', 8n],
  ['smallint', 16n],
  ['int', 32n],
  ['bigint', 64n],
])('a %s has %d bits', (type, bits) => {
  const { textOf } = keyTypeOf(type);
  const end = 2n ** (bits - 1n);
  for (const number of [-end, 0n, end - 1n]) expect(textOf(number)).toBe(String(number));
  for (const number of [-end - 1n, end]) expect(textOf(number)).toBeUndefined();
});

test.each(CQL_KEY_TYPES)(
  'a value of the type %s that was converted to a string and parsed again has the same string',
  (type) => {
    const keyType = keyTypeOf(type);
    const { textOf, parameter, bytes } = keyType;
    fc.assert(
      fc.property(fc.anything({ withDate: true, withBigInt: true, withTypedArray: true }), (value) => {
        const text = textOf(value);
        if (text === undefined) return;
        // If the driver cannot send a value as a parameter, the statement contains the value as a literal.
        expect(textOf(bytes?.(text) === undefined ? parameter(text) : text)).toBe(text);
        if (keyType.textOfInput !== undefined) expect(keyType.textOfInput(text)).toBe(text);
      }),
      { numRuns: randomRuns(300) },
    );
  },
);

test('time UUIDs with the same timestamp are ordered by their other bytes, each compared as a signed number', () => {
  const { rank, compare } = keyTypeOf('timeuuid');
  const zeros = '00000000-0000-1000-0000-000000000000';
  for (let at = 19; at < zeros.length; at += zeros[at + 2] === '-' ? 3 : 2) {
    const sorted = ['80', '81', 'ff', '00', '7f'].map((byte) => rank(zeros.slice(0, at) + byte + zeros.slice(at + 2)));
    expect(sorted.toSorted(compare)).toEqual(sorted);
    expect(new Set(sorted.map((each) => (each as Buffer).toString('hex'))).size).toBe(5);
  }
});

test.each<[CqlKeyType, unknown, string | undefined]>([
  ['timestamp', 1_594_283_400_000, '2020-07-09T08:30:00.000Z'],
  ['timestamp', types.Long.fromString('1594283400000'), '2020-07-09T08:30:00.000Z'],
  ['timestamp', '1594283400000', undefined],
  ['timestamp', '-9223372036854775808', '-9223372036854775808'],
  ['timestamp', 2n ** 63n, undefined],
  ['int', ['7'], undefined],
  ['int', { toString: 7 }, undefined],
  ['blob', Uint8Array.of(255, 0), '/wA='],
  ['blob', '/wA=', undefined],
  ['varint', '1'.repeat(200_000), undefined],
  ['decimal', '1'.repeat(200_000), undefined],
  ['decimal', decimal(-5n, 3), '-0.005'],
  ['decimal', decimal(5n, -2), '500'],
])('the %s %p is the string %p', (type, value, text) => {
  expect(keyTypeOf(type).textOf(value)).toBe(text);
});

test.each<[CqlKeyType, string, string | undefined]>([
  ['uuid', 'AB000000-0000-4000-8000-000000000000', 'ab000000-0000-4000-8000-000000000000'],
  ['timestamp', '2020-07-09T08:30:00Z', '2020-07-09T08:30:00.000Z'],
  ['timestamp', '2020-07-09T08:30:00+02:00', '2020-07-09T06:30:00.000Z'],
  ['timestamp', '2020-07-09T08:30:00', undefined],
  ['timeuuid', 'ab000000-0000-4100-8000-000000000000', undefined],
  ['time', '24:00:00', undefined],
  ['decimal', '1.50', '1.5'],
  ['decimal', '-0.00', '0'],
  ['decimal', '', undefined],
  ['decimal', '1E-2001', `0.${'0'.repeat(2_000)}1`],
  ['decimal', `-0.${'0'.repeat(2_001)}1`, '-1E-2002'],
  ['int', '07', '7'],
  ['boolean', 'True', 'true'],
  ['blob', '0xFF00', '/wA='],
  ['blob', '/wB=', undefined],
  ['int', '1.0', undefined],
  ['date', '-2147483648', '-2147483648'],
  ['date', '2147483648', undefined],
  ['double', 'one', undefined],
])('the %s %j in a configuration becomes the string %j', (type, written, text) => {
  const keyType = keyTypeOf(type);
  expect(keyType.textOfInput === undefined ? keyType.textOf(written) : keyType.textOfInput(written)).toBe(text);
});

test.each([
  ['a BigDecimal with 400 million zeros', decimal(1n, 400_000_000)],
  ['an integer of a million digits', 10n ** 1_000_000n],
])('an error message shows at most one line of %s', (_, value) => {
  expect(describeValue(value).length).toBeLessThan(200);
});
