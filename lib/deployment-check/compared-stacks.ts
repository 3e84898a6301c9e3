import { resolveKnown } from '../cloudformation/intrinsics';
import { references } from '../cloudformation/references';
import { type Names, type StackScope, type StackTemplate, stackScopes } from '../cloudformation/stack-scope';
import { ownResource, type Resource, type Template } from '../cloudformation/template';
import type { Location } from './finding';

/** The deployed and the new template of a stack. A new stack has no deployed template. */
export interface StackChange {
  /** The unique name of the stack. The name of a nested stack is the name of its parent, a slash, and its logical id. */
  readonly stack: string;
  /** The CloudFormation stack name. @default the unique name */
  readonly name?: string;
  /** The stage of the stack, as any text. */
  readonly directory?: string;
  /** Absent if the Region is known only at deployment. */
  readonly region?: string;
  readonly deployed?: Template;
  readonly synthesized: Template;
}

/** A template of a stack, in the comparison. */
export interface StackVersion {
  readonly scope: StackScope;
  /** The resources, with the values of their intrinsic functions as far as the values are known. */
  readonly resources: ReadonlyMap<string, Resource>;
}

/** The deployed and the new version of a stack. A new stack has no deployed version. */
export interface ComparedStack {
  readonly stack: string;
  readonly deployed?: StackVersion;
  readonly synthesized: StackVersion;
}

/**
 * A resource that is in both templates of a stack, with the same logical id and type. Its intrinsic functions are
 * resolved as far as their values are known. The value of a reference to a resource is a text that names the resource.
 */
export interface ResourceChange extends Location {
  readonly type: string;
  readonly deployed: Resource;
  readonly synthesized: Resource;
}

/** Resolves the templates of all stacks of an app. */
export function comparedStacks(changes: readonly StackChange[]): ComparedStack[] {
  const [before, after] = (['deployed', 'synthesized'] as const).map((version) => versionsOf(changes, version));
  return changes.flatMap(({ stack }) => {
    const [deployed, synthesized] = [before!.get(stack), after!.get(stack)];
    return synthesized === undefined ? [] : [{ stack, synthesized, ...(deployed !== undefined && { deployed }) }];
  });
}

/** The resources that are in both templates of a stack. */
export function resourceChanges({ stack, deployed, synthesized }: ComparedStack): ResourceChange[] {
  return [...synthesized.resources].flatMap(([logicalId, next]) => {
    const before = deployed?.resources.get(logicalId);
    if (before?.Type !== next.Type) return [];
    return [{ stack, logicalId, type: next.Type, deployed: before, synthesized: next }];
  });
}

/** Identifies a resource in the app. */
export function resourceKey({ stack, logicalId }: Location): string {
  return `${stack}/${logicalId}`;
}

/** The keys of the resources to which a value of a template refers, in all stacks of the app. */
export function referredKeys(value: unknown, scope: StackScope): string[] {
  return references(value, scope).map((each) => resourceKey({ stack: each.scope.stack.id, ...each }));
}

/** The values of the properties that AWS knows, as texts that name their resources. */
const NAMES: Names<StackTemplate> = {
  pseudoParameters: ({ name, region }) => ({
    'AWS::StackName': name,
    ...(region !== undefined && { 'AWS::Region': region }),
  }),
  valueOf: ({ scope, logicalId, attribute }) => {
    const key = resourceKey({ stack: scope.stack.id, logicalId });
    return { value: `\${${attribute === undefined ? key : `${key}.${attribute}`}}` };
  },
};

function versionsOf(
  changes: readonly StackChange[],
  version: 'deployed' | 'synthesized',
): ReadonlyMap<string, StackVersion> {
  const templates = new Map(changes.flatMap((change) => (change[version] ? [[change.stack, change[version]]] : [])));
  const parentOf = (stack: string): string | undefined => {
    const [, parent = '', logicalId = ''] = /^(.*)\/([^/]*)$/.exec(stack) ?? [];
    return ownResource(templates.get(parent), logicalId)?.Type === 'AWS::CloudFormation::Stack' ? parent : undefined;
  };
  const inside = (parent: string | undefined): StackTemplate[] =>
    changes.flatMap(({ stack: id, name = id, ...change }) => {
      const template = change[version];
      if (template === undefined || parentOf(id) !== parent) return [];
      const nested = new Map(inside(id).map((child) => [child.id.slice(id.length + 1), child]));
      return [{ ...change, id, name, template, nested }];
    });
  return new Map(
    stackScopes(inside(undefined), NAMES).map((scope) => {
      const resources = scope.resources.map(([logicalId, resource]): [string, Resource] => [
        logicalId,
        resolveKnown(resource, scope) as Resource,
      ]);
      return [scope.stack.id, { scope, resources: new Map(resources) }];
    }),
  );
}
