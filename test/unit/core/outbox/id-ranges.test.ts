import { idRangesOf } from '../../../../lib/core/outbox/id-ranges';

test.each([
  [[], null, null],
  [[7n], '7', '{[7,7]}'],
  [[3n, 1n, 2n], '3', '{[1,3]}'],
  [[8n, 1n, 4n, 2n, 7n, 10n], '10', '{[1,2],[4,4],[7,8],[10,10]}'],
  [[2n ** 63n - 1n, 2n ** 63n - 2n], '9223372036854775807', '{[9223372036854775806,9223372036854775807]}'],
])('idRangesOf – rows %j – joins adjacent numbers to ranges', (ids, lastId, numbers) => {
  expect(idRangesOf(ids)).toEqual({ lastId, numbers });
});
