/** The parts of a CloudFormation template that the comparison of two releases reads. */
export interface Template {
  readonly Resources: Record<string, Resource>;
}

export interface Resource {
  Type: string;
  Properties?: Record<string, unknown>;
  DependsOn?: string | string[];
  DeletionPolicy?: string;
  UpdateReplacePolicy?: string;
}

/** The logical ids that a resource refers to with `Ref`, `Fn::GetAtt`, `Fn::Sub` and `DependsOn`. */
export function referencesOf({ Properties, DependsOn = [] }: Resource): Set<string> {
  return new Set([...[DependsOn].flat(), ...idsIn(Properties)]);
}

function idsIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  const { Ref, 'Fn::GetAtt': attribute, 'Fn::Sub': sub } = value as Record<string, unknown>;
  const own = [Ref, [attribute].flat()[0]].filter((id) => typeof id === 'string');
  const [text] = [sub].flat();
  const inText = typeof text === 'string' ? [...text.matchAll(/\$\{(\w+)/g)].map(([, id]) => id!) : [];
  return [...own, ...inText, ...Object.values(value).flatMap(idsIn)];
}

/** The resources that CloudFormation creates or updates before a resource. */
export function earlierThan({ Resources }: Template, logicalId: string): Set<string> {
  const earlier = new Set<string>();
  const add = (id: string): void => {
    for (const each of referencesOf(Resources[id]!)) {
      if (earlier.has(each) || !Object.hasOwn(Resources, each)) continue;
      earlier.add(each);
      add(each);
    }
  };
  add(logicalId);
  return earlier;
}
