import { basename } from 'node:path';

/** `describe` where a suite finds what it needs. Elsewhere the suite is skipped, and the output says what is missing. */
export function describeWhere(isFound: boolean, needed: string): jest.Describe {
  if (isFound) return describe;
  console.log(`SKIPPED: a part of ${basename(expect.getState().testPath!)} needs ${needed}`);
  return describe.skip;
}
