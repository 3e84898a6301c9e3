import { ownResource, type Resource, type Template } from '../cloudformation/template';

/** The deployed and the new template of a stack. A new stack has no deployed template. */
export interface StackChange {
  /** The unique name of the stack. */
  readonly stack: string;
  readonly deployed?: Template;
  readonly synthesized: Template;
}

/** A resource that is in both templates of a stack, with the same logical id and type. */
export interface ResourceChange {
  readonly stack: string;
  readonly logicalId: string;
  readonly type: string;
  readonly deployed: Resource;
  readonly synthesized: Resource;
}

/** The resources that are in both templates of a stack. */
export function resourceChanges({ stack, deployed, synthesized }: StackChange): ResourceChange[] {
  return Object.entries(synthesized.Resources ?? {}).flatMap(([logicalId, next]) => {
    const before = ownResource(deployed, logicalId);
    if (before?.Type !== next.Type) return [];
    return [{ stack, logicalId, type: next.Type, deployed: before, synthesized: next }];
  });
}

/** A value as text for comparisons. `false` and an empty list have the same text as an absent value. */
export function textOf(value: unknown): string {
  const isOff = value === undefined || value === false || (Array.isArray(value) && value.length === 0);
  return isOff ? '' : JSON.stringify(value);
}

/** Whether a value refers to a resource of its template. */
export function refersTo(value: unknown, logicalId: string): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const { Ref, 'Fn::GetAtt': attribute, 'Fn::Sub': sub } = value as Record<string, unknown>;
  if (Ref === logicalId || [attribute].flat()[0] === logicalId) return true;
  const [text] = [sub].flat();
  if (typeof text === 'string' && new RegExp(`\\$\\{${logicalId}[.}]`).test(text)) return true;
  return Object.values(value).some((member) => refersTo(member, logicalId));
}
