import { adoptionFindings } from './adoption-findings';
import { comparedStacks, namesIn, resourceChanges, type StackChange } from './compared-stacks';
import { type Finding, inOrderOfSteps } from './finding';
import { functionFindings } from './function-findings';
import { mappingFindings } from './mapping-findings';
import { publishedFindings } from './published-findings';
import { readerFindings } from './reader-findings';
import { replacements, resourceFindings } from './resource-findings';
import { shardingFindings } from './sharding-changes';
import { streamFindings } from './stream-findings';
import { tableFindings } from './table-findings';

/**
 * The harmful effects of a deployment, in the order of the steps to take. For example: AWS rejects a change,
 * CloudFormation replaces a resource, readers miss items, or the records of a key lose their order.
 *
 * @param changes all stacks of the app, because a stack can use resources of another stack
 */
export function deploymentFindings(changes: readonly StackChange[]): Finding[] {
  const stacks = comparedStacks(changes);
  const nameOf = namesIn(changes);
  const replaced = replacements(stacks);
  return inOrderOfSteps([
    ...resourceFindings(stacks, replaced),
    ...mappingFindings(stacks, replaced, nameOf),
    ...stacks
      .flatMap(resourceChanges)
      .flatMap((resource) => [
        ...shardingFindings(resource),
        ...streamFindings(resource),
        ...tableFindings(resource),
        ...functionFindings(resource),
      ]),
    ...adoptionFindings(stacks, replaced, nameOf),
    ...readerFindings(stacks, replaced, nameOf),
    ...publishedFindings(stacks, replaced, nameOf),
  ]);
}
