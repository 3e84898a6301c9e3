import { resolveKnown } from '../cloudformation/intrinsics';
import { references } from '../cloudformation/references';
import { type Names, type StackScope, type StackTemplate, stackScopes } from '../cloudformation/stack-scope';
import { constructPathsIn, ownResource, type Resource, type Template } from '../cloudformation/template';
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
  /** The construct paths of the new resources, by their logical ids. @default the paths in the metadata */
  readonly constructPaths?: ReadonlyMap<string, string>;
}

/** A template of a stack, in the comparison. */
export interface StackVersion {
  readonly scope: StackScope;
  /** The resources, with the values of their intrinsic functions as far as the values are known. */
  readonly resources: ReadonlyMap<string, Resource>;
  /**
   * The key of the resource that sharding metadata describes by its construct path or by a reference in JSON.
   * Undefined if no template has the resource.
   */
  described(description: string | undefined): string | undefined;
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
  /** The deployed and the new version of the stack. */
  readonly versions: { readonly deployed: StackVersion; readonly synthesized: StackVersion };
}

/** Resolves the templates of all stacks of an app. */
export function comparedStacks(changes: readonly StackChange[]): ComparedStack[] {
  const [before, after] = VERSIONS.map((version) => versionsOf(changes, version));
  return changes.flatMap(({ stack }) => {
    const [deployed, synthesized] = [before!.get(stack), after!.get(stack)];
    return synthesized === undefined ? [] : [{ stack, synthesized, ...(deployed !== undefined && { deployed }) }];
  });
}

/** The resources that are in both templates of a stack. */
export function resourceChanges({ stack, deployed, synthesized }: ComparedStack): ResourceChange[] {
  return [...synthesized.resources].flatMap(([logicalId, next]) => {
    const before = deployed?.resources.get(logicalId);
    if (deployed === undefined || before?.Type !== next.Type) return [];
    const versions = { deployed, synthesized };
    return [{ stack, logicalId, type: next.Type, deployed: before, synthesized: next, versions }];
  });
}

/** Identifies a resource in the app. */
export function resourceKey({ stack, logicalId }: Location): string {
  return `${stack}/${logicalId}`;
}

/** The construct paths of all resources, by their keys. A removed resource has its deployed path. */
export function resourcePaths(changes: readonly StackChange[]): ReadonlyMap<string, string> {
  return new Map(VERSIONS.flatMap((version) => [...pathsIn(changes, version)]));
}

const VERSIONS = ['deployed', 'synthesized'] as const;

type Version = (typeof VERSIONS)[number];

function pathsIn(changes: readonly StackChange[], version: Version): ReadonlyMap<string, string> {
  return new Map(
    changes.flatMap(({ stack, [version]: template = {}, constructPaths = [] }) =>
      [...constructPathsIn(template), ...(version === 'synthesized' ? constructPaths : [])].map(
        ([logicalId, path]): [string, string] => [resourceKey({ stack, logicalId }), path],
      ),
    ),
  );
}

/** Returns the name of a resource or a stack in a text, by its key: the construct path and the logical id. */
export type NameOf = (key: string) => string;

export function namesIn(changes: readonly StackChange[]): NameOf {
  const paths = resourcePaths(changes);
  const stacks = new Map(changes.map(({ stack, name = stack }) => [stack, name]));
  return (key) => {
    const path = paths.get(key);
    if (path === undefined) return stacks.get(key) ?? key;
    return `${path.replace(/\.NestedStack\/.*$/, '')} (${key.slice(key.lastIndexOf('/') + 1)})`;
  };
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

function versionsOf(changes: readonly StackChange[], version: Version): ReadonlyMap<string, StackVersion> {
  const keys = new Map([...pathsIn(changes, version)].map(([key, path]) => [path, key]));
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
      const described = (text = '') =>
        keys.get(text) ?? referredKeys(text.startsWith('{"') ? JSON.parse(text) : text, scope)[0];
      return [scope.stack.id, { scope, resources: new Map(resources), described }];
    }),
  );
}
