import { resolveKnown } from '../cloudformation/intrinsics';
import { usedValues } from '../cloudformation/references';
import type { PublishedValue } from '../cloudformation/stack-scope';
import { type ComparedStack, type NameOf, referredKeys, resourceKey } from './compared-stacks';
import { type Finding, finding, type Location } from './finding';
import type { Replacement } from './resource-findings';

/** A kind of value that a stack publishes for other stacks: who rejects a change of a value in use. */
const REJECTS: Readonly<Record<string, string>> = {
  export: 'CloudFormation rejects',
  'cross-Region export': 'the custom resource of the CDK rejects',
};

/**
 * Findings for changed or deleted values that a deployed stack reads from another stack: exports, exports to another
 * Region, and outputs.
 *
 * @param replaced the replaced resources by their keys
 */
export function publishedFindings(
  stacks: readonly ComparedStack[],
  replaced: ReadonlyMap<string, Replacement>,
  nameOf: NameOf,
): Finding[] {
  const deployed = stacks.flatMap((stack) => stack.deployed ?? []);
  const uses = deployed.map(({ scope }) => ({ user: scope.stack.id, values: usedValues(scope.stack.template, scope) }));
  return stacks.flatMap(({ stack, deployed, synthesized }) =>
    [...(deployed?.scope.published ?? [])].flatMap(([key, value]) => {
      const users = uses.filter(({ user, values }) => user !== stack && values.includes(value)).map(({ user }) => user);
      const next = synthesized.scope.published.get(key);
      const sources = referredKeys(value.value, deployed!.scope);
      const isSame = next !== undefined && textOfValue(next) === textOfValue(value);
      if (users.length === 0 || (isSame && !sources.some((source) => replaced.get(source)?.isRefused === false)))
        return [];
      const own = [...deployed!.resources.keys()].find((logicalId) =>
        sources.includes(resourceKey({ stack, logicalId })),
      );
      const location = { stack, logicalId: own ?? value.name };
      return [publishedFinding(location, value, next === undefined, users.map(nameOf).join(' and '))];
    }),
  );
}

function publishedFinding(
  location: Location,
  { kind, name }: PublishedValue,
  isDeleted: boolean,
  users: string,
): Finding {
  const change = `the ${kind} ${name} would ${isDeleted ? 'be deleted' : 'change'} while ${users}`;
  if (kind !== 'output') {
    const text =
      `${change} imports it, which ${REJECTS[kind]}. First deploy the importing stacks without the import. In the meantime, keep ` +
      'the export with `exportValue` of its stack.';
    return finding(location, 'Deployment.exportInUse', 'refused', 'split', text);
  }
  const text = isDeleted
    ? `${change} reads it, and CloudFormation does not reject this: an update of ${users} fails as long as its template reads the ` +
      `output. First deploy ${users} without the reference.`
    : `${change} reads it, and CloudFormation does not update ${users}: it keeps the earlier value. Afterwards deploy ${users} with ` +
      '`cdk deploy --force`, because the CDK skips a stack whose template has not changed.';
  return finding(location, 'Deployment.outputInUse', 'failing', isDeleted ? 'split' : 'prepare', text);
}

function textOfValue({ value, scope }: PublishedValue): string {
  return JSON.stringify(resolveKnown(value, scope));
}
