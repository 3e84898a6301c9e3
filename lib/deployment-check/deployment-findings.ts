import { type Finding, inOrderOfSteps } from './finding';
import { functionFindings } from './function-findings';
import { readerFindings } from './reader-findings';
import { resourceFindings } from './resource-findings';
import { shardingFindings } from './sharding-changes';
import { streamFindings } from './stream-findings';
import { tableFindings } from './table-findings';
import { resourceChanges, type StackChange } from './template';

/**
 * What a deployment of stacks would do that AWS refuses, that makes a resource anew, that readers and writers do not expect, or
 * that takes the records of a key out of their order. In the order of the steps to take.
 *
 * @param changes every stack of the app, for one stack can use what is in another
 */
export function deploymentFindings(changes: readonly StackChange[]): Finding[] {
  const known = changes.filter(({ deployed }) => deployed !== undefined);
  return inOrderOfSteps([
    ...known.flatMap((change) => [
      ...resourceFindings(change),
      ...resourceChanges(change).flatMap((resource) => [
        ...shardingFindings(resource),
        ...streamFindings(resource),
        ...tableFindings(resource),
        ...functionFindings(resource),
      ]),
    ]),
    ...readerFindings(changes),
  ]);
}
