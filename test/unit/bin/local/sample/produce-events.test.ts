import { FIRST_SIZE, nextSize } from '../../../../../bin/local/sample/produce-events';

/** Invokes as often as it takes, on a machine that needs so many milliseconds for a record at each moment. */
function longestInvocation(records: number, msPerRecord: (sent: number) => number): number {
  let [size, longest] = [FIRST_SIZE, 0];
  for (let sent = 0; sent < records; ) {
    const elapsed = size * msPerRecord(sent);
    sent += size;
    longest = Math.max(longest, elapsed);
    size = nextSize(size, elapsed);
  }
  return longest;
}

test.each([
  ['a fast machine', () => 0.2],
  ['a machine that is a thousand times slower', () => 200],
  ['a machine that becomes ten times slower at once', (sent: number) => (sent < 10_000 ? 1 : 10)],
])('no invocation on %s takes half of the minute that a function has', (_, msPerRecord) => {
  expect(longestInvocation(37_584, msPerRecord)).toBeLessThan(30_000);
});
