import type { Template } from '../../lib/deployment-check/template';

/** A stack as it is deployed, in an account or by a local run. A nested stack is a stack of its own. */
export interface DeployedStack {
  /** Identifies the stack: its name or, for a nested stack, its parent's id and its own logical id. */
  readonly id: string;
  readonly template: Template;
  /** The name that the deployment has given each resource, by its logical id. */
  readonly physicalNames: ReadonlyMap<string, string>;
  /** The construct path of each resource, by its logical id. */
  readonly paths: ReadonlyMap<string, string>;
}

/** The construct path of a resource, as far as it is known. */
export function pathOf({ id, paths }: Pick<DeployedStack, 'id' | 'paths'>, logicalId: string): string {
  return paths.get(logicalId) ?? `${id}/${logicalId}`;
}

/** The construct paths that a template itself holds, without the `/Resource` of an L2's default child. */
export function pathsInTemplate({ Resources = {} }: Template): Map<string, string> {
  return new Map(
    Object.entries(Resources).flatMap(([logicalId, { Metadata }]) => {
      const path = Metadata?.['aws:cdk:path'];
      return typeof path === 'string' ? [[logicalId, path.replace(/\/Resource$/, '')] as const] : [];
    }),
  );
}
