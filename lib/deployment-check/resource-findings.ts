import { scalarText } from '../cloudformation/intrinsics';
import type { Resource } from '../cloudformation/template';
import { readGuide } from '../construct/guide-link';
import { type ComparedStack, type ResourceChange, referredKeys, resourceChanges, resourceKey } from './compared-stacks';
import { type Finding, finding } from './finding';
import { describeRemoval, fixedName, keptType } from './kept-resource';
import { isUpdated, settingText, updateEffects } from './update-effects';

const GUIDE = readGuide('second-day', 'what-a-deployment-replaces');

/** Findings for resources that a deployment replaces, removes, renames or converts, and for updates that AWS rejects. */
export function resourceFindings(
  stacks: readonly ComparedStack[],
  replaced: ReadonlyMap<string, Replacement>,
): Finding[] {
  const known = stacks.filter(({ deployed }) => deployed !== undefined);
  return [
    ...[...replaced.values()].filter(({ type }) => keptType(type) !== undefined).map(replacedFinding),
    ...known.flatMap(resourceChanges).flatMap(rejectedFindings),
    ...known.flatMap(removedFindings),
    ...known.flatMap(convertedFindings),
  ];
}

/** A resource that CloudFormation replaces, with the changed properties. */
export interface Replacement extends ResourceChange {
  readonly properties: readonly string[];
  /** Whether CloudFormation rejects the replacement, because the new resource has the name of the deployed resource. */
  readonly isRefused: boolean;
}

/**
 * The replaced resources by their keys. CloudFormation also replaces a resource if one of its properties in `replacing`
 * refers to a replaced resource, in the same stack or in another stack.
 */
export function replacements(stacks: readonly ComparedStack[]): ReadonlyMap<string, Replacement> {
  const found = new Map<string, Replacement>();
  const candidates = stacks.flatMap((stack) => resourceChanges(stack).flatMap((change) => candidateOf(stack, change)));
  let before: number;
  do {
    before = found.size;
    for (const { change, parts } of candidates.filter(({ change: each }) => !found.has(resourceKey(each)))) {
      const isReplaced = (key: string) => found.get(key)?.isRefused === false;
      const replacing = parts.filter(({ isChanged, sources }) => isChanged || sources.some(isReplaced));
      const properties = replacing.map(({ property }) => property);
      const name = fixedName(change.synthesized);
      const isRefused = name !== undefined && name === fixedName(change.deployed);
      if (properties.length > 0) found.set(resourceKey(change), { ...change, properties, isRefused });
    }
  } while (found.size > before);
  return found;
}

/** The properties of a resource that can cause its replacement. */
function candidateOf({ synthesized }: ComparedStack, change: ResourceChange) {
  const declared = synthesized.scope.declared(change.logicalId);
  const parts = (updateEffects(change.type).replacement ?? []).map((property) => ({
    property,
    isChanged: isChanged(change, property),
    sources: referredKeys(declared[property], synthesized.scope),
  }));
  return parts.length === 0 ? [] : [{ change, parts }];
}

function isChanged({ type, deployed, synthesized }: ResourceChange, property: string): boolean {
  return isUpdated(type, property, deployed.Properties, synthesized.Properties);
}

/** Findings for updates of properties that AWS always rejects. */
function rejectedFindings(change: ResourceChange): Finding[] {
  return Object.entries(updateEffects(change.type).rejected ?? {}).flatMap(([property, instead]) =>
    isChanged(change, property)
      ? [finding(change, 'Deployment.updateRejected', 'refused', 'revise', `${property} would change. ${instead}.`)]
      : [],
  );
}

function replacedFinding({ deployed, synthesized, properties, isRefused, ...location }: Replacement): Finding {
  const { kind, holds, consequence } = keptType(location.type)!;
  const subject = `another ${properties.join(' and ')}`;
  if (isRefused) {
    const text =
      `${subject} requires a new resource, and CloudFormation cannot create a second resource with the name ${fixedName(synthesized)}: give ` +
      `${kind} another name, or add a second construct, and move to it.${GUIDE}`;
    return finding(location, 'Deployment.replacementRefused', 'refused', 'revise', text);
  }
  if (holds === undefined) {
    const text = `${subject} replaces ${kind}: ${consequence}.${GUIDE}`;
    return finding(location, 'Deployment.replaced', 'replaced', 'prepare', text);
  }
  const text =
    `${subject} replaces ${kind}: the new resource is empty, and the earlier resource ${describeRemoval(deployed, scalarText(synthesized.UpdateReplacePolicy)).description}. ` +
    `Add a second construct, copy ${holds}, and remove this construct in a later deployment.${GUIDE}`;
  return finding(location, 'Deployment.replaced', 'replaced', 'revise', text);
}

/** Findings for resources that are removed from the stack, or that get another logical id. */
function removedFindings({ stack, deployed, synthesized }: ComparedStack): Finding[] {
  const before = deployed?.resources ?? new Map<string, Resource>();
  const removed = [...before].filter(
    ([logicalId, { Type }]) => keptType(Type) !== undefined && !synthesized.resources.has(logicalId),
  );
  const added = new Map([...synthesized.resources].filter(([logicalId]) => !before.has(logicalId)));
  return removed.flatMap(([logicalId, resource]) => {
    const successor = successorOf(resource, added);
    if (successor === undefined) return removedFinding(stack, logicalId, resource);
    added.delete(successor);
    return renamedFinding(stack, logicalId, resource, successor);
  });
}

/**
 * The added resource that is most likely the same construct with another id: a resource of the same type with the same
 * name or the same identifying properties.
 */
function successorOf(resource: Resource, added: ReadonlyMap<string, Resource>): string | undefined {
  const ofType = [...added].filter(([, { Type }]) => Type === resource.Type);
  const name = fixedName(resource);
  const sameName = ofType.find(([, each]) => name !== undefined && fixedName(each) === name);
  const sameProperties = ofType.find(([, each]) => identifyingText(each) === identifyingText(resource));
  return (sameName ?? sameProperties)?.[0];
}

/** The properties that distinguish a resource from other resources of its type, as text. */
function identifyingText({ Type, Properties = {} }: Resource): string {
  const { replacement = [] } = updateEffects(Type);
  const ofFunction = Type === 'AWS::Lambda::Function' ? ['Description', 'Handler'] : [];
  return [...replacement, ...ofFunction].map((property) => settingText(Properties[property], Type, property)).join();
}

function renamedFinding(stack: string, logicalId: string, resource: Resource, successor: string): Finding[] {
  const { kind, holds } = keptType(resource.Type)!;
  const location = { stack, logicalId: successor };
  const rename =
    `Keep the logical id with overrideLogicalId('${logicalId}') on node.defaultChild, or rename the resource in the deployed stack with ` +
    `\`cdk refactor\`.${GUIDE}`;
  const name = fixedName(resource);
  if (name !== undefined) {
    const text = `the logical id of ${kind} changes from ${logicalId} to ${successor}, and AWS rejects a second resource with the name ${name}. ${rename}`;
    return [finding(location, 'Deployment.renamed', 'refused', 'revise', text)];
  }
  // A resource without content can be replaced, because references in the template then point to the new resource.
  if (holds === undefined) return [];
  const text =
    `the logical id of ${kind} changes from ${logicalId} to ${successor}: CloudFormation creates a new, empty resource, and the ` +
    `earlier resource ${describeRemoval(resource, scalarText(resource.DeletionPolicy)).description}. ${rename}`;
  return [finding(location, 'Deployment.renamed', 'replaced', 'revise', text)];
}

function removedFinding(stack: string, logicalId: string, resource: Resource): Finding[] {
  const { kind, holds } = keptType(resource.Type)!;
  if (holds === undefined) return [];
  const { isDeleted, description } = describeRemoval(resource, scalarText(resource.DeletionPolicy));
  const text = `${kind} leaves the stack: it ${description}. Acknowledge this warning if you want this.${GUIDE}`;
  return [
    finding(
      { stack, logicalId },
      'Deployment.removed',
      isDeleted ? 'deleted' : 'left',
      isDeleted ? 'prepare' : 'know',
      text,
    ),
  ];
}

/** Findings for resources that keep their logical id but change their type. */
function convertedFindings({ stack, deployed, synthesized }: ComparedStack): Finding[] {
  return [...synthesized.resources].flatMap(([logicalId, { Type }]) => {
    const before = deployed?.resources.get(logicalId);
    if (before === undefined || before.Type === Type) return [];
    const isTable = before.Type === 'AWS::DynamoDB::Table' && Type === 'AWS::DynamoDB::GlobalTable';
    const guide = isTable ? readGuide('adopt', 'same-app-not-convertible') : GUIDE;
    const text =
      `the type of the resource ${logicalId} changes from ${before.Type} to ${Type}, and CloudFormation rejects this for the same logical id. Deploy ` +
      `the new resource under another construct id, and remove the earlier resource, with the removal policy RETAIN, in a later deployment.${guide}`;
    return [finding({ stack, logicalId }, 'Deployment.converted', 'refused', 'revise', text)];
  });
}
