/** What of a template of CloudFormation a comparison of two reads. Values may hold intrinsic functions. */
export interface Template {
  readonly Resources?: { readonly [logicalId: string]: Resource };
  readonly Outputs?: { readonly [logicalId: string]: Output };
}

/** A resource of a template. */
export interface Resource {
  readonly Type: string;
  readonly Properties?: Properties;
  readonly Metadata?: { readonly [key: string]: unknown };
  readonly DeletionPolicy?: string;
  readonly UpdateReplacePolicy?: string;
}

export type Properties = { readonly [name: string]: unknown };

interface Output {
  readonly Value: unknown;
  readonly Export?: { readonly Name: unknown };
}

/** A stack as it is deployed, and as a deployment would have it. A stack that is new has no deployed template. */
export interface StackChange {
  /** What tells the stack from the others. */
  readonly stack: string;
  readonly deployed?: Template;
  readonly coming: Template;
}

/** A resource that is in both templates of a stack, under one logical id and with one type. */
export interface ResourceChange {
  readonly stack: string;
  readonly logicalId: string;
  readonly type: string;
  readonly deployed: Resource;
  readonly coming: Resource;
}

/** The resources that both templates of a stack have. */
export function resourceChanges({ stack, deployed, coming }: StackChange): ResourceChange[] {
  return Object.entries(coming.Resources ?? {}).flatMap(([logicalId, next]) => {
    const before = ownResource(deployed, logicalId);
    if (before?.Type !== next.Type) return [];
    return [{ stack, logicalId, type: next.Type, deployed: before, coming: next }];
  });
}

/** A resource of a template, and none of what every object inherits. */
export function ownResource(template: Template | undefined, logicalId: string): Resource | undefined {
  const resources = template?.Resources ?? {};
  return Object.hasOwn(resources, logicalId) ? resources[logicalId] : undefined;
}

/** A value as text: two values with the same text are the same. A switch that is off is one that is absent. */
export function textOf(value: unknown): string {
  const isOff = value === undefined || value === false || (Array.isArray(value) && value.length === 0);
  return isOff ? '' : JSON.stringify(value);
}

/** The members of a list; none if the template has an intrinsic function in its place. */
export function listOf<T>(value: unknown): readonly T[] {
  return Array.isArray(value) ? value : [];
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
