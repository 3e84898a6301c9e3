import type { UnknownPart } from '../../lib/cloudformation/read-template';
import type { Template } from '../../lib/cloudformation/template';

/** A deployed stack, in an account or in a local run. A nested stack is another `DeployedStack`. */
export interface DeployedStack {
  /** Identifies the stack: its name or, for a nested stack, its parent's id and its own logical id. */
  readonly id: string;
  readonly template: Template;
  /** The parts of the template that have an unknown form. `template` does not contain them. */
  readonly unknown: readonly UnknownPart[];
  /** The physical name of each resource, by its logical id. */
  readonly physicalNames: ReadonlyMap<string, string>;
  /** The construct path of each resource, by its logical id. */
  readonly paths: ReadonlyMap<string, string>;
}

/** The construct path of a resource, or its logical id if the path is unknown. */
export function pathOf({ id, paths }: Pick<DeployedStack, 'id' | 'paths'>, logicalId: string): string {
  return paths.get(logicalId) ?? `${id}/${logicalId}`;
}
