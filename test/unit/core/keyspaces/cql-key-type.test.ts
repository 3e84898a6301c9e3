import { types } from 'cassandra-driver';
import fc from 'fast-check';
import { describeValue } from '../../../../lib/core/foundation/errors';
import { operandOf } from '../../../../lib/core/keyspaces/column-value';
import { CQL_KEY_TYPES, type CqlKeyType, keyTypeOf } from '../../../../lib/core/keyspaces/cql-key-type';
import { randomRuns } from '../../../support/random-runs';

// The driver's declaration knows numbers alone.
const decimal = (unscaled: bigint, scale: number) =>
  new types.BigDecimal(types.Integer.fromString(String(unscaled)) as never, scale);

const dayOf = (days: number) => types.LocalDate.fromString(String(days));

test('a decimal has one text, whatever its scale, and sorts by its value', () => {
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
      const [most] = [Math.max(a.scale, b.scale)];
      const whole = ({ unscaled, scale }: typeof a) => unscaled * 10n ** BigInt(most - scale);
      const difference = whole(a) - whole(b);
      const [left, right] = [a, b].map(({ unscaled, scale }) => rank(textOf(decimal(unscaled, scale))!));
      expect(Math.sign(compare(left!, right!))).toBe(difference === 0n ? 0 : difference > 0n ? 1 : -1);
    }),
  );
});

test('what the driver cannot send stands in the statement as the bytes that the driver reads it from', () => {
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
  const long = 10n ** 400n + 7n;
  for (const number of [long, -long]) {
    const operand = operandOf({ name: 'c', type: 'varint' }, { text: String(number), rank: number }) as {
      literal: string;
    };
    const [, hex] = /^blobAsVarint\(0x([0-9a-f]+)\)$/.exec(operand.literal)!;
    expect(keyTypeOf('varint').textOf(types.Integer.fromBuffer(Buffer.from(hex!, 'hex')))).toBe(String(number));
  }
});

test('every day that CQL has is read, and sorts by its day', () => {
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
  'whatever a value is, it is none of the type %s, or has one text that stays the same',
  (type) => {
    const keyType = keyTypeOf(type);
    const { textOf, parameter, bytes } = keyType;
    fc.assert(
      fc.property(fc.anything({ withDate: true, withBigInt: true, withTypedArray: true }), (value) => {
        const text = textOf(value);
        if (text === undefined) return;
        // What the driver cannot send has no parameter.
        expect(textOf(bytes?.(text) === undefined ? parameter(text) : text)).toBe(text);
        if (keyType.textOfWritten !== undefined) expect(keyType.textOfWritten(text)).toBe(text);
      }),
      { numRuns: randomRuns(300) },
    );
  },
);

test('time UUIDs of one time sort by each of their other bytes, as signed numbers', () => {
  const { rank, compare } = keyTypeOf('timeuuid');
  const zeros = '00000000-0000-1000-0000-000000000000';
  for (let at = 19; at < zeros.length; at += zeros[at + 2] === '-' ? 3 : 2) {
    const sorted = ['80', 'ff', '00', '7f'].map((byte) => rank(zeros.slice(0, at) + byte + zeros.slice(at + 2)));
    expect(sorted.toSorted(compare)).toEqual(sorted);
    expect(new Set(sorted.map((each) => (each as Buffer).toString('hex'))).size).toBe(4);
  }
});

test.each([true, null, ['2020-07-09T08:30:00Z']])('%j is no timestamp', (value) => {
  expect(keyTypeOf('timestamp').textOf(value)).toBeUndefined();
});

test('a blob is bytes, and no text', () => {
  const { textOf } = keyTypeOf('blob');
  expect(textOf(Uint8Array.of(255, 0))).toBe('/wA=');
  expect(textOf('/wA=')).toBeUndefined();
});

test.each<[CqlKeyType, string, string | undefined]>([
  ['uuid', 'AB000000-0000-4000-8000-000000000000', 'ab000000-0000-4000-8000-000000000000'],
  ['timestamp', '2020-07-09T08:30:00Z', '2020-07-09T08:30:00.000Z'],
  ['timestamp', '2020-07-09T08:30:00+02:00', '2020-07-09T06:30:00.000Z'],
  ['timestamp', '2020-07-09T08:30:00', undefined],
  ['timestamp', 'yesterday', undefined],
  ['time', '24:00:00', undefined],
  ['decimal', '1.50', '1.5'],
  ['time', '08:30:00', '08:30:00.000000000'],
  ['double', '1.0', '1'],
  ['int', '07', '7'],
  ['boolean', 'True', 'true'],
  ['date', '2020-7-9', '2020-07-09'],
  ['blob', '0xFF00', '/wA='],
  ['int', '1.0', undefined],
  ['date', '2020-02-30', undefined],
  ['boolean', 'yes', undefined],
  ['double', 'one', undefined],
])('a %s that a person has written as %j is the text %j', (type, written, text) => {
  const keyType = keyTypeOf(type);
  expect(keyType.textOfWritten === undefined ? keyType.textOf(written) : keyType.textOfWritten(written)).toBe(text);
});

test.each([
  ['the driver’s number with four hundred million zeros', decimal(1n, 400_000_000)],
  ['a whole number of a million digits', 10n ** 1_000_000n],
  ['a list of ten million', { list: new Array(10_000_000).fill('x'.repeat(100)) }],
  ['an object that writes itself for ever', { toJSON: () => '0'.repeat(100_000_000) }],
])('an error message shows no more than a line of %s', (_, value) => {
  expect(describeValue(value).length).toBeLessThan(200);
});
