import { nodeVersionProblem } from '../../bin/node-version';

test.each([
  ['18.20.4', 'even-shards needs Node.js 20.16 or newer, and this is 18.20.4'],
  ['20.15.1', 'even-shards needs Node.js 20.16 or newer, and this is 20.15.1'],
  ['20.16.0', undefined],
  ['22.0.0', undefined],
])('Node.js %s: %s', (version, problem) => {
  expect(nodeVersionProblem(version)).toBe(problem);
});
