import { FIRST_SIZE, nextSize } from '../../../../../bin/local/sample/produce-events';

/** The duration of the longest invocation, on a machine that needs `msPerRecord` for each record. */
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
  ['a machine that suddenly becomes ten times slower', (sent: number) => (sent < 10_000 ? 1 : 10)],
])('the sample on %s ends each invocation within 30 seconds', (_, msPerRecord) => {
  expect(longestInvocation(37_584, msPerRecord)).toBeLessThan(30_000);
});
