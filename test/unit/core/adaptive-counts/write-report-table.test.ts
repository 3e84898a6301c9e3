import type { DynamoDbItem } from '../../../../lib/core';
import { reportKey, reportOf } from '../../../../lib/core/adaptive-counts/write-report-table';

const NOON = Date.UTC(2026, 10, 21, 12);
const item = { admitted: { N: '0' }, throttled: { N: '5' } };

test.each(['open', '*', '', undefined])('reportOf – a report of the value %p – returns the same report', (value) => {
  expect(reportOf(reportKey(NOON, value), item)).toEqual({ value, start: NOON, admitted: 0, throttled: 5 });
});

test.each<[string, DynamoDbItem]>([
  ['alarm', item],
  ['2026-11-21T12:00', item],
  ['2026-11-21T25:00=open', item],
  ['2026-11-21T12:00=open', { ...item, admitted: { N: '-1' } }],
])('reportOf – the item %p with %j – returns undefined', (key, other) => {
  expect(reportOf(key, other)).toBeUndefined();
});
