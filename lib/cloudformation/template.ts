/** The resource types of DynamoDB tables. */
export const TABLE_TYPES: readonly string[] = ['AWS::DynamoDB::GlobalTable', 'AWS::DynamoDB::Table'];

/** The parts of a CloudFormation template that this package reads. Values can contain intrinsic functions. */
export interface Template {
  readonly Parameters?: { readonly [name: string]: Parameter };
  readonly Mappings?: {
    readonly [map: string]: { readonly [key: string]: { readonly [secondLevelKey: string]: unknown } };
  };
  readonly Conditions?: { readonly [name: string]: unknown };
  readonly Resources?: { readonly [logicalId: string]: Resource };
  readonly Outputs?: { readonly [logicalId: string]: Output };
}

interface Parameter {
  readonly Type: string;
  readonly Default?: unknown;
}

export interface Resource {
  readonly Type: string;
  readonly Condition?: string;
  readonly Properties?: Properties;
  readonly Metadata?: { readonly [key: string]: unknown };
  readonly DeletionPolicy?: unknown;
  readonly UpdateReplacePolicy?: unknown;
}

export type Properties = { readonly [name: string]: unknown };

export interface Output {
  readonly Condition?: string;
  readonly Value: unknown;
  readonly Export?: { readonly Name: unknown };
}

/** A resource of a template, by its logical id. Inherited properties such as `constructor` are not resources. */
export function ownResource(template: Template | undefined, logicalId: string): Resource | undefined {
  const resources = template?.Resources ?? {};
  return Object.hasOwn(resources, logicalId) ? resources[logicalId] : undefined;
}

/** The construct paths in the metadata of a template, by the logical ids of the resources. */
export function constructPathsIn({ Resources = {} }: Template): Map<string, string> {
  return new Map(
    Object.entries(Resources).flatMap(([logicalId, { Metadata }]) => {
      const path = Metadata?.['aws:cdk:path'];
      return typeof path === 'string' ? [[logicalId, withoutDefaultChild(path)] as const] : [];
    }),
  );
}

/** A construct path without the `/Resource` of an L2's default child. */
export function withoutDefaultChild(path: string): string {
  return path.replace(/\/Resource$/, '');
}

/** The members of a list, without null. Empty if the template has an intrinsic function instead of the list. */
export function listOf<T>(value: unknown): readonly T[] {
  return Array.isArray(value) ? value.filter((member) => member !== null) : [];
}
