import { basename } from 'node:path';

/**
 * `describe` for a suite that needs a program or a service. If the machine does not have it, Jest skips the suite, and
 * the output names it.
 */
export function describeWhere(isFound: boolean, needed: string): jest.Describe {
  if (isFound) return describe;
  console.log(`SKIPPED: a part of ${basename(expect.getState().testPath!)} needs ${needed}`);
  return describe.skip;
}
