import { basename } from 'node:path';

/**
 * `describe` for a suite that needs a program or a service. If the machine does not have the program or the service, Jest skips the
 * suite, and the output names the suite.
 */
export function describeWhere(isFound: boolean, needed: string): jest.Describe {
  if (isFound) return describe;
  console.log(`SKIPPED: a part of ${basename(expect.getState().testPath!)} needs ${needed}`);
  return describe.skip;
}
