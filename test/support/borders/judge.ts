import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { App } from 'aws-cdk-lib';
import type { Border, Pair } from './borders';

interface Resource {
  readonly Type: string;
  readonly DependsOn?: string | string[];
  readonly Properties?: { readonly [name: string]: unknown };
}
interface StackTemplate {
  readonly file: string;
  readonly body: string;
  readonly resources: { readonly [logicalId: string]: Resource };
}

/** The templates of a pair with a border, or the error message if synthesis fails. */
type Synthesis = { readonly templates: StackTemplate[]; readonly warnings: string[] } | { readonly refusal: string };

/** Caches the result for each pair and border, because several tests use the same results. */
const synthesized = new Map<string, Synthesis | undefined>();

export function synthesize(pair: Pair, border: Border): Synthesis | undefined {
  const cell = `${pair.construct} ${pair.partner} ${border}`;
  if (!synthesized.has(cell)) synthesized.set(cell, synthesizeUncached(pair, border));
  return synthesized.get(cell);
}

function synthesizeUncached(pair: Pair, border: Border): Synthesis | undefined {
  let app: App | undefined;
  try {
    app = pair.across(border);
    if (app === undefined) return undefined;
    const { directory, stacks } = app.synth();
    const warnings = stacks.flatMap(({ messages }) => messages.map(({ entry }) => String(entry.data)));
    const templates = readdirSync(directory)
      .filter((file) => file.endsWith('.template.json'))
      .map((file) => {
        const body = readFileSync(join(directory, file), 'utf8');
        return { file, body, resources: JSON.parse(body).Resources ?? {} };
      });
    rmSync(directory, { recursive: true });
    return { templates, warnings };
  } catch (error) {
    return { refusal: (error as Error).message };
  }
}

/** Returns the resources of one circular reference in a template, or an empty list. */
export function circleIn({ resources }: StackTemplate): string[] {
  const edges = new Map(Object.entries(resources).map(([id, resource]) => [id, referencesOf(resource)] as const));
  const done = new Set<string>();
  const walk = (id: string, path: string[]): string[] => {
    if (path.includes(id)) return path.slice(path.indexOf(id));
    if (done.has(id) || !edges.has(id)) return [];
    for (const next of edges.get(id)!) {
      const circle = walk(next, [...path, id]);
      if (circle.length > 0) return circle;
    }
    done.add(id);
    return [];
  };
  for (const id of edges.keys()) {
    const circle = walk(id, []);
    if (circle.length > 0) return circle;
  }
  return [];
}

function referencesOf(resource: Resource): string[] {
  const found = new Set([resource.DependsOn ?? []].flat());
  const visit = (value: unknown): void => {
    if (Array.isArray(value)) value.forEach(visit);
    if (typeof value !== 'object' || value === null) return;
    for (const [key, inner] of Object.entries(value)) {
      if (key === 'Ref') found.add(inner as string);
      else if (key === 'Fn::GetAtt')
        found.add((Array.isArray(inner) ? inner[0] : (inner as string).split('.')[0]) as string);
      else if (key === 'Fn::Sub') for (const [, name] of JSON.stringify(inner).matchAll(/\$\{(\w+)/g)) found.add(name!);
      else visit(inner);
    }
  };
  visit(resource.Properties);
  return [...found];
}

/** The permissions of the roles in the templates. Each permission is a pair of an action and a resource. */
export function allowed(templates: readonly StackTemplate[]): { action: string; resource: string }[] {
  return templates.flatMap(({ resources }) =>
    Object.values(resources).flatMap(({ Type, Properties = {} }) =>
      Type === 'AWS::IAM::Policy' || Type === 'AWS::IAM::Role'
        ? statementsIn(Properties).flatMap(({ Action, Resource }) =>
            [Action]
              .flat()
              .flatMap((action) =>
                [Resource].flat().map((resource) => ({ action, resource: JSON.stringify(resource) })),
              ),
          )
        : [],
    ),
  );
}

function statementsIn(value: unknown): { Action: string | string[]; Resource: unknown }[] {
  if (typeof value !== 'object' || value === null) return [];
  if ('Effect' in value && 'Resource' in value) return [value as never];
  return Object.values(value).flatMap(statementsIn);
}

/** The resources in the stack of the construct that refer to another Region, without the custom resources of CDK. */
export function otherPlacesIn({ file, resources }: StackTemplate): string[] {
  if (!file.startsWith('Home')) return [];
  return Object.entries(resources)
    .filter(
      ([, { Type, Properties }]) =>
        !Type.startsWith('Custom::') && JSON.stringify(Properties ?? {}).includes('us-east-1'),
    )
    .map(([id]) => id);
}
