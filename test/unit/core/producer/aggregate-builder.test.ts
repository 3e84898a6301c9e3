import fc from 'fast-check';
import { deaggregate, type UserRecord } from '../../../../lib/core';
import { type AggregatableRecord, AggregateBuilder } from '../../../../lib/core/producer/aggregate-builder';
import { anyText } from '../../../support/any-text';
import { anySequence } from '../consumer/any-sequence';

const MIB = 2 ** 20;

const record = (data: string, more: Partial<AggregatableRecord> = {}): AggregatableRecord => ({
  partitionKey: 'key',
  data: Buffer.from(data),
  ...more,
});

function builderOf(records: readonly AggregatableRecord[], maxBytes = MIB): AggregateBuilder {
  const builder = new AggregateBuilder({ maxBytes });
  for (const each of records) expect(builder.tryAdd(each)).toBe(true);
  return builder;
}

const hex = (data: Uint8Array): string => Buffer.from(data).toString('hex');

/** The bytes of a message in hexadecimal. The lines have the order of the fields in the format description. */
const bytes = (...lines: string[]): string => lines.join('').replaceAll(' ', '');

describe('AggregateBuilder', () => {
  test('writes two records as the Kinesis Producer Library does', () => {
    expect(hex(builderOf([record('a'), record('')]).build().data)).toBe(
      bytes(
        'f3899ac2',
        '0a 03 6b6579', //                      partition_key_table: "key"
        '1a 05   08 00   1a 01 61', //          records: partition_key_index 0, data "a"
        '1a 04   08 00   1a 00', //             records: partition_key_index 0, no data
        'f05a4a998f2dcdc132ac368b0a6430fe', // MD5,
      ),
    );
  });

  test('writes the explicit hash key of each record, because the KCL would otherwise use the MD5 of its partition key', () => {
    const explicitHashKey = 2n ** 127n;
    expect(hex(builderOf([record('a', { explicitHashKey }), record('b', { explicitHashKey })]).build().data)).toBe(
      bytes(
        'f3899ac2',
        '0a 03 6b6579',
        `12 27 ${hex(Buffer.from('170141183460469231731687303715884105728'))}`,
        '1a 07   08 00   10 00   1a 01 61', //  records: explicit_hash_key_index 0 as well
        '1a 07   08 00   10 00   1a 01 62',
        '989e0f118a1d4d7fdb6f32d3b436bc33',
      ),
    );
  });

  describe('with any records of one partition key', () => {
    const anyData = fc.oneof(
      fc.uint8Array({ maxLength: 300 }),
      fc.uint8Array({ maxLength: 30 }).map((data) => Uint8Array.of(0xf3, 0x89, 0x9a, 0xc2, ...data)),
    );
    const anyKey = fc.oneof(
      anyText({ minLength: 1, maxLength: 50 }),
      fc.constantFrom('0', '42', '__proto__', 'constructor', 'hasOwnProperty', '\ufeff', '顧客', '🧾'.repeat(128)),
    );
    const anyHashKey = fc.option(fc.bigInt({ min: 0n, max: 2n ** 128n - 1n }), { nil: undefined });
    const anyRecords = fc
      .tuple(anyKey, anyHashKey, fc.array(anyData, { minLength: 1, maxLength: 30 }), fc.boolean())
      .chain(([partitionKey, explicitHashKey, data, stamped]) =>
        fc.array(anySequence, { minLength: data.length, maxLength: data.length }).map((sequences) =>
          data.map(
            (each, index): AggregatableRecord => ({
              partitionKey,
              ...(explicitHashKey !== undefined && { explicitHashKey }),
              data: each,
              ...(stamped && { sequence: sequences[index]! }),
            }),
          ),
        ),
      );
    const asPut = (records: readonly AggregatableRecord[]): UserRecord[] =>
      records.map((each, subSequenceNumber) => ({ ...each, subSequenceNumber }));

    test('deaggregate returns the records that the builder has aggregated', () => {
      fc.assert(
        fc.property(anyRecords, (records) => {
          expect(deaggregate(builderOf(records).build())).toEqual(asPut(records));
        }),
        { numRuns: 1_000 },
      );
    });

    test('an aggregate may have exactly maxBytes bytes, and no more', () => {
      fc.assert(
        fc.property(anyRecords, (records) => {
          const { byteLength } = builderOf(records);
          builderOf(records, byteLength);
          const builder = new AggregateBuilder({ maxBytes: byteLength - 1 });
          expect(records.every((each) => builder.tryAdd(each))).toBe(false);
          expect(builder.byteLength).toBeLessThan(byteLength);
        }),
      );
    });
  });
});
