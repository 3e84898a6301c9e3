import { parseRecordInput } from '../../../../lambda/producer/record-input';
import {
  InvalidArgumentError,
  InvalidHashKeyError,
  InvalidPartitionKeyError,
  RecordTooLargeError,
} from '../../../../lib/core';

const parse = (input: unknown) => parseRecordInput('records[3]', input);
const text = (data: Uint8Array): string => Buffer.from(data).toString();

describe('parseRecordInput', () => {
  test('encodes text as UTF-8', () => {
    expect(text(parse({ partitionKey: 'a', data: 'grün' }).data)).toBe('grün');
  });

  test.each([[[1, 2]], [0.5], [false], [null]])('encodes %j as JSON', (data) => {
    expect(text(parse({ partitionKey: 'a', data }).data)).toBe(JSON.stringify(data));
  });

  test('decodes bytes from base64', () => {
    expect(parse({ partitionKey: 'a', dataBase64: '/wA=' }).data).toEqual(Buffer.from([0xff, 0]));
  });

  test('decodes base64 of several megabytes, and rejects data of too many bytes', () => {
    const megabytes = (count: number) => 'A'.repeat(count * 1_000_000);
    const parseWithin = (dataBase64: string) =>
      parseRecordInput('records[0]', { partitionKey: 'a', dataBase64 }, { maxRecordBytes: 10 * 2 ** 20 });
    expect(parseWithin(megabytes(6)).data).toHaveLength(4_500_000);
    expect(() => parse({ partitionKey: 'a', dataBase64: megabytes(6) })).toThrow(RecordTooLargeError);
  });

  test('accepts the owner of a hash key if the function has a registry', () => {
    const input = { partitionKey: 'a', data: '', hashKeyOwner: 'account-1' };
    const record = parseRecordInput('records[0]', input, { hasRegistry: true });
    expect(record).toEqual({ partitionKey: 'a', data: Buffer.from(''), hashKeyOwner: 'account-1' });
  });

  test.each([
    [{ hashKeyOwner: '' }, 'records[0].hashKeyOwner must be a string of 1 to 256 characters'],
    [{ hashKeyOwner: 5 }, 'records[0].hashKeyOwner must be a string of 1 to 256 characters'],
    [
      { hashKeyOwner: 'a', explicitHashKey: '1' },
      'records[0].hashKeyOwner must be absent, because the record has an explicitHashKey',
    ],
  ])('rejects %j', (fields, message) => {
    const input = { partitionKey: 'a', data: '', ...fields };
    expect(() => parseRecordInput('records[0]', input, { hasRegistry: true })).toThrow(message);
  });

  test('parses an explicit hash key from a decimal string, up to 2^128 - 1', () => {
    const record = parse({ partitionKey: 'a', data: '', explicitHashKey: '340282366920938463463374607431768211455' });
    expect(record.explicitHashKey).toBe(2n ** 128n - 1n);
  });

  test.each<[string, unknown, new (...args: never[]) => Error, string]>([
    [
      'no record',
      'text',
      InvalidArgumentError,
      'records[3] must be an object with partitionKey and data or dataBase64, got "text"',
    ],
    [
      'no partition key',
      { data: '' },
      InvalidPartitionKeyError,
      'records[3].partitionKey must be a string of 1 to 256 characters, got undefined',
    ],
    ['a long partition key', { partitionKey: 'k'.repeat(257), data: '' }, InvalidPartitionKeyError, '(257 characters)'],
    [
      'no data',
      { partitionKey: 'a' },
      InvalidArgumentError,
      'records[3] must be exactly one of data and dataBase64, got "neither"',
    ],
    ['data twice', { partitionKey: 'a', data: '', dataBase64: '' }, InvalidArgumentError, 'got "both"'],
    [
      'broken base64',
      { partitionKey: 'a', dataBase64: 'a' },
      InvalidArgumentError,
      'records[3].dataBase64 must be padded base64, got "a"',
    ],
    [
      'a hash key that is a number',
      { partitionKey: 'a', data: '', explicitHashKey: 7 },
      InvalidArgumentError,
      'records[3].explicitHashKey must be a decimal integer from 0 to 2^128 - 1, as a string, got 7',
    ],
    [
      'a hash key of 2^128',
      { partitionKey: 'a', data: '', explicitHashKey: String(2n ** 128n) },
      InvalidHashKeyError,
      'records[3].explicitHashKey must be a decimal integer from 0 to 2^128 - 1, as a string, got "340282366920938463463374607431768211456"',
    ],
    [
      'more than 1 MiB',
      { partitionKey: 'a', data: 'x'.repeat(2 ** 20) },
      RecordTooLargeError,
      'records[3].data must be at most 1048576 bytes together with the partition key, got 1048577',
    ],
    ['an unknown field', { partitionKey: 'a', data: '', key: 1 }, InvalidArgumentError, 'got "key"'],
    [
      'an owner without a registry',
      { partitionKey: 'a', data: '', hashKeyOwner: 'o' },
      InvalidArgumentError,
      'this function has no hash key registry',
    ],
  ])('rejects %s', (_, input, error, message) => {
    expect(() => parse(input)).toThrow(error);
    expect(() => parse(input)).toThrow(message);
  });
});
