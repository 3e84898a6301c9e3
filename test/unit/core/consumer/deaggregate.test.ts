import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { CorruptAggregateError, deaggregate, InvalidArgumentError, InvalidHashKeyError } from '../../../../lib/core';
import { AggregateBuilder } from '../../../../lib/core/producer/aggregate-builder';
import { anySequence } from './any-sequence';

const MAGIC = Uint8Array.of(0xf3, 0x89, 0x9a, 0xc2);

const fromHex = (text: string): Buffer => Buffer.from(text.replaceAll(' ', ''), 'hex');
const inHex = (text: string): string => Buffer.from(text).toString('hex');

/** A Kinesis record that contains an aggregate with this hexadecimal message. */
function recordOf(...message: string[]) {
  const bytes = fromHex(message.join(''));
  const data = Buffer.concat([MAGIC, bytes, createHash('md5').update(bytes).digest()]);
  return { partitionKey: 'a', data };
}

const KEY = `0a 03 ${inHex('key')}`;

const texts = (record: Parameters<typeof deaggregate>[0]) => deaggregate(record).map(({ data }) => String(data));

describe('deaggregate', () => {
  test('reads an aggregate of several keys that the Kinesis Producer Library has written', () => {
    const record = recordOf(
      `0a 03 ${inHex('200')}`,
      `0a 03 ${inHex('100')}`,
      `12 01 ${inHex('9')}`,
      `12 01 ${inHex('5')}`,
      `1a 07   08 00   10 01   1a 01 ${inHex('a')}`,
      `1a 05   08 01   1a 01 ${inHex('b')}`,
      `1a 07   08 01   10 00   1a 01 ${inHex('c')}`,
    );
    expect(deaggregate(record)).toStrictEqual([
      { partitionKey: '200', explicitHashKey: 5n, data: Buffer.from('a'), subSequenceNumber: 0 },
      { partitionKey: '100', data: Buffer.from('b'), subSequenceNumber: 1 },
      { partitionKey: '100', explicitHashKey: 9n, data: Buffer.from('c'), subSequenceNumber: 2 },
    ]);
  });

  test.each(['0', '__proto__', '\ufeff', '🧾'])(
    'keeps the partition key %j separate from other keys',
    (partitionKey) => {
      const text = Buffer.from(partitionKey);
      const record = recordOf(
        `0a 01 ${inHex('z')}`,
        `0a ${text.length.toString(16).padStart(2, '0')} ${text.toString('hex')}`,
        '1a 05 08 01 1a 01 61',
        '1a 05 08 00 1a 01 62',
      );
      expect(deaggregate(record).map((each) => each.partitionKey)).toEqual([partitionKey, 'z']);
    },
  );

  test('accepts fields in another order, repeated fields and unknown fields', () => {
    const record = recordOf(
      '20 96 01', //                                                        field 4, a varint
      '1a 0e   1a 01 61   08 05   08 80 80 00   2d 00000000', //         data first, the index twice, field 5 of 4 bytes
      '29 0000000000000000', //                                             field 5 of 8 bytes
      KEY,
      `1a 15   08 00   1a 01 62   22 0e   0a 05 ${inHex('other')}   12 05 ${inHex('7/p  ')}`, // the tag of another library
      `20 ${'80'.repeat(9)} 01`, //                                         field 4, a number of ten bytes
      'fa ff ff ff 0f 00', //                                               the highest field number, no bytes
    );
    expect(texts(record)).toEqual(['a', 'b']);
    expect(deaggregate(record).map(({ sequence }) => sequence)).toEqual([undefined, undefined]);
  });

  describe('with a record that is not an aggregate', () => {
    test.each([
      ['a text', Buffer.from('hello')],
      ['empty data', new Uint8Array()],
      ['a part of the magic bytes', MAGIC.subarray(0, 3)],
      ['the magic bytes at another position', Uint8Array.of(0, ...MAGIC)],
    ])('returns the record itself: %s', (_, data) => {
      const record = { partitionKey: 'a', data };
      expect(deaggregate(record)).toEqual([{ ...record, subSequenceNumber: 0 }]);
      expect(deaggregate(record)[0]!.data).toBe(data);
    });

    test.each([7n, '7', '007', `${'0'.repeat(60)}7`])(
      'returns its explicit hash key %p as a number',
      (explicitHashKey) => {
        expect(deaggregate({ partitionKey: 'a', data: Buffer.from('x'), explicitHashKey })).toMatchObject([
          { explicitHashKey: 7n, subSequenceNumber: 0 },
        ]);
      },
    );

    test.each(['-1', 'seven', 2n ** 128n])('rejects the hash key %p', (key) => {
      const record = { partitionKey: 'a', data: Buffer.from('x'), explicitHashKey: key };
      expect(() => deaggregate(record)).toThrow(InvalidHashKeyError);
      expect(() => deaggregate(record)).toThrow(String(key));
    });

    test.each([null, { partitionKey: 'a', data: 'aGVsbG8=' }])('rejects %j', (record) => {
      expect(() => deaggregate(record as never, { onCorrupt: 'raw' })).toThrow(InvalidArgumentError);
    });

    test('rejects an invalid option', () => {
      const record = { partitionKey: 'a', data: new Uint8Array() };
      expect(() => deaggregate(record, { onCorrupt: 'skip' as never })).toThrow(
        "onCorrupt must be 'throw' or 'raw', got",
      );
    });
  });

  test('accepts explicit hash keys with leading zeros, as the Kinesis Client Library does', () => {
    const record = recordOf(
      KEY,
      `12 03 ${inHex('000')}`,
      `12 04 ${inHex('0042')}`,
      `1a 07   08 00   10 00   1a 01 ${inHex('a')}`,
      `1a 07   08 00   10 01   1a 01 ${inHex('b')}`,
    );
    expect(deaggregate(record)).toMatchObject([{ explicitHashKey: 0n }, { explicitHashKey: 42n }]);
  });

  test('omits records outside the range of the shard if the range is given', () => {
    // The MD5 of "key" starts with 3c6e, in the first quarter. The explicit hash key is in the last quarter.
    const record = recordOf(
      KEY,
      `12 27 ${inHex(String(2n ** 128n - 1n))}`,
      `1a 05   08 00   1a 01 ${inHex('a')}`,
      `1a 07   08 00   10 00   1a 01 ${inHex('b')}`,
    );
    const half = 2n ** 127n;
    const within = (startingHashKey: bigint, endingHashKey: bigint) =>
      deaggregate(record, { range: { startingHashKey, endingHashKey } }).map(({ data }) => String(data));
    expect(within(0n, half - 1n)).toEqual(['a']);
    expect(within(half, 2n * half - 1n)).toEqual(['b']);
    expect(within(2n * half - 1n, 2n * half - 1n)).toEqual(['b']);
    expect(() => within(0n, 2n * half)).toThrow(InvalidHashKeyError);
    expect(() => within(-1n, half)).toThrow(InvalidHashKeyError);
  });

  describe('with sequenced records', () => {
    const tag = (text: string, more = '') => {
      const value = Buffer.from(text);
      const length = (bytes: number) => bytes.toString(16).padStart(2, '0');
      const fields = `0a 0b ${inHex('even-shards')} 12 ${length(value.length)} ${value.toString('hex')} ${more}`;
      return `22 ${length(fromHex(fields).length)} ${fields}`;
    };
    const record = (fields: string) =>
      `1a ${(fromHex(fields).length + 5).toString(16).padStart(2, '0')} 08 00 1a 01 61 ${fields}`;
    const sequences = (...records: string[]) => deaggregate(recordOf(KEY, ...records)).map(({ sequence }) => sequence);

    test('a record without a sequence tag has the number of the previous record plus one', () => {
      expect(sequences(record(''), record(tag('7/p')), record(''), record(''), record(tag('0/q')), record(''))).toEqual(
        [
          undefined,
          { producerId: 'p', sequenceNumber: 7n },
          { producerId: 'p', sequenceNumber: 8n },
          { producerId: 'p', sequenceNumber: 9n },
          { producerId: 'q', sequenceNumber: 0n },
          { producerId: 'q', sequenceNumber: 1n },
        ],
      );
    });

    test.each(['', '7', '7/', '/p', '-1/p', '01/p', `1${'0'.repeat(40)}/p`])(
      'a sequence tag of %j is corrupt',
      (text) => {
        expect(() => sequences(record(tag(text)))).toThrow(
          'corrupt aggregate: a tag of record 0 does not hold a sequence',
        );
      },
    );
  });

  describe('with an invalid aggregate', () => {
    const ONE = '1a 05 08 00 1a 01 61';
    test.each<[string, ReturnType<typeof recordOf>, string]>([
      ['an empty message', recordOf(''), 'it does not hold a record'],
      ['a truncated field', recordOf(KEY, ONE, '1a 05 08 00'), 'it ends 3 bytes too early'],
      ['a number of eleven bytes', recordOf('20', 'ff'.repeat(10), '01'), 'it has a number of more than 10 bytes'],
      ['field 0', recordOf('02 00'), 'it has a field with the number 0'],
      ['a group', recordOf(KEY, '23 24'), 'it has a field with the wire type 3'],
      ['a record without a key', recordOf(KEY, ONE, '1a 03 1a 01 61'), 'record 1 has no partition key'],
      ['a record without data', recordOf(KEY, '1a 02 08 00'), 'record 0 has no data'],
      [
        'an invalid index of a partition key',
        recordOf(KEY, '1a 05 08 01 1a 01 61'),
        'the partition key of record 0 refers to entry 1 of a table with 1 entries',
      ],
      ['a key that is not UTF-8', recordOf('0a 02 c3 28', ONE), 'partition key 0 is not UTF-8'],
      ['a hash key that is not a number', recordOf(KEY, '12 01 78', ONE), 'explicit hash key 0 is not a hash key'],
      ['a wrong MD5', { partitionKey: 'a', data: recordOf(KEY, ONE).data.fill(0, 15) }, 'its MD5 does not match'],
      ['a missing MD5', { partitionKey: 'a', data: recordOf(KEY, ONE).data.subarray(0, 10) }, ''],
    ])('rejects %s, or returns the record unchanged if onCorrupt is raw', (_, record, reason) => {
      for (const options of [undefined, { onCorrupt: 'throw' } as const]) {
        expect(() => deaggregate(record, options)).toThrow(CorruptAggregateError);
        expect(() => deaggregate(record, options)).toThrow(`corrupt aggregate: ${reason}`);
      }
      expect(deaggregate(record, { onCorrupt: 'raw' })).toEqual([{ ...record, subSequenceNumber: 0 }]);
    });
  });

  describe('with random changes after the magic bytes', () => {
    /** Returns whether `deaggregate` returns records or rejects the data as corrupt. Any other error fails the test. */
    const outcome = (data: Uint8Array): 'records' | 'corrupt' => {
      try {
        expect(deaggregate({ partitionKey: 'a', data }).length).toBeGreaterThan(0);
        return 'records';
      } catch (error) {
        if (error instanceof CorruptAggregateError) return 'corrupt';
        throw error;
      }
    };

    const anyAggregate = fc
      .array(fc.tuple(fc.uint8Array({ maxLength: 20 }), anySequence), { minLength: 2, maxLength: 6 })
      .map((records) => {
        const builder = new AggregateBuilder({ maxBytes: 2 ** 20 });
        for (const [data, sequence] of records) {
          builder.tryAdd({ partitionKey: 'key', explicitHashKey: 12_345n, data, sequence });
        }
        return Buffer.from(builder.build().data);
      });

    const message = (aggregate: Buffer): Buffer => aggregate.subarray(4, -16);

    test('rejects an aggregate in which one bit was changed', () => {
      fc.assert(
        fc.property(anyAggregate, fc.nat(), (aggregate, nth) => {
          const bit = 32 + (nth % (8 * (aggregate.length - 4)));
          aggregate[bit >> 3]! ^= 1 << (bit & 7);
          expect(outcome(aggregate)).toBe('corrupt');
        }),
      );
    });

    test('returns records or throws a typed error if a bit was changed before the MD5 was computed', () => {
      fc.assert(
        fc.property(anyAggregate, fc.nat(), (aggregate, nth) => {
          const bytes = message(aggregate);
          const bit = nth % (8 * bytes.length);
          bytes[bit >> 3]! ^= 1 << (bit & 7);
          outcome(recordOf(inHexBytes(bytes)).data);
        }),
        { numRuns: 2_000 },
      );
    });
  });
});

function inHexBytes(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}
