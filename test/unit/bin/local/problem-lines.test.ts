import { problemLines } from '../../../../bin/local/problem-lines';

test('each source prints its first problem, then at most one problem in ten seconds, with the number in between', () => {
  const printed: string[] = [];
  let nowMs = 0;
  const report = problemLines(
    (line) => printed.push(`${nowMs}: ${line}`),
    () => nowMs,
  );
  for (; nowMs <= 20_500; nowMs += 500) {
    report('a', 'a fails');
    if (nowMs === 2_000 || nowMs === 19_000) report('b', 'b fails');
  }
  expect(printed).toEqual([
    '0: a fails',
    '2000: b fails',
    '10000: a fails (after 19 problems without a line)',
    '19000: b fails',
    '20000: a fails (after 19 problems without a line)',
  ]);
});
