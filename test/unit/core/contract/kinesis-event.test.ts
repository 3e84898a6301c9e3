import fc from 'fast-check';
import {
  EMPTY_EVENT_BYTES,
  type KinesisEventFields,
  kinesisEventRecord,
  kinesisEventRecordBytes,
  LARGEST_RECORD_OF_EVENT_KIB,
  MAX_EVENT_BYTES,
} from '../../../../lib/core/contract/kinesis-event';
import { anyText } from '../../../support/any-text';

const digits = (maxLength: number) => fc.stringMatching(new RegExp(`^[1-9][0-9]{0,${maxLength - 1}}$`));
/**
 * Partition keys with ASCII characters, control characters, and characters of 2 to 4 bytes, up to the maximum length of
 * Kinesis.
 */
const partitionKeys = anyText({ minLength: 1, maxLength: 256 });
const fields = fc.record({
  shardId: fc.string({ unit: fc.constantFrom('a', '-', '9'), minLength: 1, maxLength: 128 }),
  sequenceNumber: digits(129),
  partitionKey: partitionKeys,
  arrivedAtMs: fc.integer({ min: 1_600_000_000_000, max: 4_000_000_000_000 }),
  streamArn: fc.string({ unit: fc.constantFrom('a', ':', '/'), maxLength: 2_048 }),
  roleArn: fc.string({ unit: fc.constantFrom('a', ':', '/'), maxLength: 2_048 }),
  region: fc.string({ unit: fc.constantFrom('a', '-'), maxLength: 32 }),
});

/**
 * The event as JSON. `escapes` decides whether characters outside ASCII are escaped, because JSON libraries differ in
 * this.
 */
const eventOf = (record: KinesisEventFields, escapes: boolean) => {
  const json = JSON.stringify({ Records: [kinesisEventRecord(record)] });
  return escapes ? json.replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`) : json;
};

test('kinesisEventRecordBytes – any record – returns the bytes of its JSON', () => {
  fc.assert(
    fc.property(fields, fc.uint8Array({ maxLength: 50 }), (rest, data) => {
      const record = { ...rest, data };
      expect(EMPTY_EVENT_BYTES + kinesisEventRecordBytes(record)).toBe(Buffer.byteLength(eventOf(record, false)));
    }),
  );
});

/** The size of the event with the largest record that a stream with this limit accepts. */
const largestEventBytes = (rest: Omit<KinesisEventFields, 'data'>, limitKib: number) => {
  const dataBytes = limitKib * 1024 - Buffer.byteLength(rest.partitionKey);
  return Buffer.byteLength(eventOf({ ...rest, data: new Uint8Array() }, true)) + 4 * Math.ceil(dataBytes / 3);
};

const longest = {
  ...{ shardId: 's'.repeat(128), sequenceNumber: '9'.repeat(129), arrivedAtMs: 1_234_567_890_123 },
  ...{ streamArn: 'a'.repeat(2_048), roleArn: 'a'.repeat(2_048), region: 'r'.repeat(32) },
};

test('LARGEST_RECORD_OF_EVENT_KIB – any record of a stream with this limit, even if all characters are escaped – fits into an event', () => {
  const extreme = ['\u{1F600}', '\u0001', '\uFFFD', 'a'].map((character) => ({
    ...longest,
    partitionKey: character.repeat(256),
  }));
  for (const rest of [...extreme, { ...longest, partitionKey: 'a' }]) {
    expect(largestEventBytes(rest, LARGEST_RECORD_OF_EVENT_KIB)).toBeLessThanOrEqual(MAX_EVENT_BYTES);
  }
  fc.assert(fc.property(fields, (rest) => largestEventBytes(rest, LARGEST_RECORD_OF_EVENT_KIB) <= MAX_EVENT_BYTES));
});

test('LARGEST_RECORD_OF_EVENT_KIB – a stream whose limit is 1 KiB higher – accepts a record that does not fit into an event', () => {
  const rest = { ...longest, partitionKey: '\u{1F600}'.repeat(256) };
  expect(largestEventBytes(rest, LARGEST_RECORD_OF_EVENT_KIB + 1)).toBeGreaterThan(MAX_EVENT_BYTES);
});
