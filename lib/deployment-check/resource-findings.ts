import { readGuide } from '../construct/guide-link';
import { type Finding, finding } from './finding';
import { fateOf, fixedName, keptType } from './kept-resource';
import {
  ownResource,
  type Resource,
  type ResourceChange,
  refersTo,
  resourceChanges,
  type StackChange,
  textOf,
} from './template';

const GUIDE = readGuide('second-day', 'what-a-deployment-replaces');

/** Which resources of a stack a deployment makes anew, gives up, or would have twice. */
export function resourceFindings(change: StackChange): Finding[] {
  if (change.deployed === undefined) return [];
  return [...replacements(change).values()]
    .map(replacedFinding)
    .concat(goneFindings(change), convertedFindings(change));
}

/** A resource that is made anew, and by which of its properties. */
interface Replacement extends ResourceChange {
  readonly properties: readonly string[];
}

/** What is made anew, and what is made anew because it refers to that. */
export function replacements(change: StackChange): Map<string, Replacement> {
  const found = new Map<string, Replacement>();
  let before: number;
  do {
    before = found.size;
    for (const resource of resourceChanges(change)) {
      if (found.has(resource.logicalId)) continue;
      const { replacing = [] } = keptType(resource.type) ?? {};
      const properties = replacing.filter((property) => isReplacing(resource, property, found));
      if (properties.length > 0) found.set(resource.logicalId, { ...resource, properties });
    }
  } while (found.size > before);
  return found;
}

function isReplacing({ deployed, coming }: ResourceChange, property: string, found: Map<string, unknown>): boolean {
  const next = coming.Properties?.[property];
  if (textOf(deployed.Properties?.[property]) !== textOf(next)) return true;
  return [...found.keys()].some((replaced) => refersTo(next, replaced));
}

function replacedFinding({ deployed, coming, properties, ...location }: Replacement): Finding {
  const { kind, holds, consequence } = keptType(location.type)!;
  const name = fixedName(coming);
  const subject = `another ${properties.join(' and ')}`;
  if (name !== undefined && name === fixedName(deployed)) {
    const text =
      `${subject} needs another resource, and CloudFormation refuses to make a second one with the name ${name}: give ` +
      `${kind} another name, or make it a construct of its own beside this one, and move over.${GUIDE}`;
    return finding(location, 'Deployment.replacementRefused', 'refused', 'revise', text);
  }
  if (holds === undefined) {
    const text = `${subject} replaces ${kind}: ${consequence}.${GUIDE}`;
    return finding(location, 'Deployment.replaced', 'replaced', 'prepare', text);
  }
  const text =
    `${subject} replaces ${kind}: the new one is empty, and the earlier one ${fateOf(deployed, coming.UpdateReplacePolicy).words}. ` +
    `Make another construct beside this one, copy what it holds, and remove this one in a later deployment.${GUIDE}`;
  return finding(location, 'Deployment.replaced', 'replaced', 'revise', text);
}

/** What leaves the stack: for good, or to come back under another logical id. */
function goneFindings({ stack, deployed, coming }: StackChange): Finding[] {
  const gone = Object.entries(deployed?.Resources ?? {}).filter(
    ([logicalId, { Type }]) => keptType(Type) !== undefined && ownResource(coming, logicalId) === undefined,
  );
  const heirs = new Map(
    Object.entries(coming.Resources ?? {}).filter(([logicalId]) => ownResource(deployed, logicalId) === undefined),
  );
  return gone.flatMap(([logicalId, resource]) => {
    const heir = heirOf(resource, heirs);
    if (heir === undefined) return goneFinding(stack, logicalId, resource);
    heirs.delete(heir);
    return renamedFinding(stack, logicalId, resource, heir);
  });
}

/** The new resource that is most likely the same construct with another id: one of the same name, or of the same shape. */
function heirOf(resource: Resource, heirs: ReadonlyMap<string, Resource>): string | undefined {
  const ofType = [...heirs].filter(([, { Type }]) => Type === resource.Type);
  const name = fixedName(resource);
  const sameName = ofType.find(([, heir]) => name !== undefined && fixedName(heir) === name);
  const sameShape = ofType.find(([, heir]) => shapeOf(heir) === shapeOf(resource));
  return (sameName ?? sameShape)?.[0];
}

/** What of a resource tells it from others of its type. */
function shapeOf({ Type, Properties = {} }: Resource): string {
  const { replacing } = keptType(Type)!;
  const handler = Type === 'AWS::Lambda::Function' ? [Properties.Description, Properties.Handler] : [];
  return [...replacing.map((property) => Properties[property]), ...handler].map(textOf).join();
}

function renamedFinding(stack: string, logicalId: string, resource: Resource, heir: string): Finding[] {
  const { kind, holds } = keptType(resource.Type)!;
  const location = { stack, logicalId: heir };
  const rename =
    `Keep it with overrideLogicalId('${logicalId}') on node.defaultChild, or rename it in the deployed stack with ` +
    `\`cdk refactor\`.${GUIDE}`;
  const name = fixedName(resource);
  if (name !== undefined || resource.Type === 'AWS::Lambda::EventSourceMapping') {
    const twice = name === undefined ? 'of the same function and source' : `with the name ${name}`;
    const text = `the logical id of ${kind} goes from ${logicalId} to ${heir}, and AWS refuses a second one ${twice}. ${rename}`;
    return [finding(location, 'Deployment.renamed', 'refused', 'revise', text)];
  }
  // Whoever refers to a function that holds nothing refers to the new one.
  if (holds === undefined) return [];
  const text =
    `the logical id of ${kind} goes from ${logicalId} to ${heir}: CloudFormation makes a new one, which is empty, and the ` +
    `earlier one ${fateOf(resource, resource.DeletionPolicy).words}. ${rename}`;
  return [finding(location, 'Deployment.renamed', 'replaced', 'revise', text)];
}

function goneFinding(stack: string, logicalId: string, resource: Resource): Finding[] {
  const { kind, holds } = keptType(resource.Type)!;
  if (holds === undefined) return [];
  const { isDeleted, words } = fateOf(resource, resource.DeletionPolicy);
  const text = `${kind} leaves the stack: it ${words}. Acknowledge this warning if that is what you want.${GUIDE}`;
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

/** A resource that keeps its logical id and changes its type. */
function convertedFindings({ stack, deployed, coming }: StackChange): Finding[] {
  return Object.entries(coming.Resources ?? {}).flatMap(([logicalId, { Type }]) => {
    const before = ownResource(deployed, logicalId);
    if (before === undefined || before.Type === Type) return [];
    const text =
      `the resource ${logicalId} goes from ${before.Type} to ${Type}, which CloudFormation refuses under one logical id. Deploy ` +
      `the new resource under another construct id, and give the earlier one up, with a removal policy of RETAIN, in a later deployment.${GUIDE}`;
    return [finding({ stack, logicalId }, 'Deployment.converted', 'refused', 'revise', text)];
  });
}
