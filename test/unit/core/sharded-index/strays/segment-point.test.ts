import { InvalidCursorError, type ShardCount } from '../../../../../lib/core';
import { decodePoint, encodePoint } from '../../../../../lib/core/sharded-index/strays/segment-point';
import { indexConfig } from '../../../../support/index-config';

const scanned = { purpose: 'find', segment: 0, totalSegments: 2 } as const;
const [few, many]: ShardCount[] = [
  { write: 2, read: 2 },
  { write: 9, read: 9 },
];
const counted = (byValue: Record<string, ShardCount>) => indexConfig({ shards: { default: few!, byValue } });
const config = counted({ a: few!, b: many!, c: few! });
const key = { jobId: { S: 'job-1' } };
const point = encodePoint(scanned, config, key);

test('a scan goes on behind its point, in whatever order the counts by value are written', () => {
  expect(decodePoint(scanned, config, point)).toEqual(key);
  expect(decodePoint(scanned, counted({ c: few!, b: many!, a: few! }), point)).toEqual(key);
  expect(decodePoint(scanned, counted({ b: many!, c: few!, a: few! }), point)).toEqual(key);
});

test.each([
  ['other values', scanned, counted({ a: few!, b: many!, d: few! })],
  ['another count of a value', scanned, counted({ a: few!, b: few!, c: few! })],
  ['an earlier count', scanned, counted({ a: few!, b: { ...many!, since: 3 }, c: few! })],
  ['another segment', { ...scanned, segment: 1 }, config],
  ['more segments', { ...scanned, totalSegments: 3 }, config],
  ['a move', { ...scanned, purpose: 'reshard' as const }, config],
])('a point is refused with %s', (_, other, judging) => {
  expect(() => decodePoint(other, judging, point)).toThrow(InvalidCursorError);
});
