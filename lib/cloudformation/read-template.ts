import { isRecord } from '../core/kernel/checks';
import { describeValue } from '../core/kernel/errors';
import type { Template } from './template';

/** A part of a template that has an unknown form. */
export interface UnknownPart {
  /** The name of the part in its section of the template, such as a logical id. */
  readonly name: string;
  /** The resource type, or the section of the template. */
  readonly type: string;
  readonly reason: string;
}

/** A template without the parts that have an unknown form. */
export interface ReadTemplate {
  readonly template: Template;
  readonly unknown: readonly UnknownPart[];
}

/** The reason why a member of a section has an unknown form. */
type Problem = (member: Readonly<Record<string, unknown>>) => string | undefined;

const noProblem: Problem = () => undefined;

const SECTIONS: Readonly<Record<keyof Template, Problem>> = {
  Parameters: ({ Type }) => textProblem('Type', Type),
  Mappings: noProblem,
  Conditions: noProblem,
  Resources: ({ Type, Condition = '', Properties = {}, Metadata = {} }) =>
    textProblem('Type', Type) ??
    textProblem('Condition', Condition) ??
    recordProblem('Properties', Properties) ??
    recordProblem('Metadata', Metadata),
  Outputs: ({ Condition = '', Export = {} }) => textProblem('Condition', Condition) ?? recordProblem('Export', Export),
};

/** Macros whose functions this package evaluates itself. */
const EVALUATED_MACRO = 'AWS::LanguageExtensions';

/**
 * Reads a template in JSON, or in JSON inside a JSON string: some tools download it in this form.
 *
 * Returns undefined if the text is no template in JSON.
 */
export function readTemplateText(text: string): ReadTemplate | undefined {
  try {
    const json: unknown = JSON.parse(text);
    return readTemplate(typeof json === 'string' ? JSON.parse(json) : json);
  } catch {
    return undefined;
  }
}

/**
 * Reads a template. CloudFormation rejects some unknown forms, and expands others, such as `Fn::ForEach`.
 *
 * Returns undefined if the JSON is no template at all.
 */
export function readTemplate(json: unknown): ReadTemplate | undefined {
  if (!isRecord(json) || !isRecord(json.Resources ?? {})) return undefined;
  const unknown: UnknownPart[] = [];
  for (const macro of [json.Transform ?? []].flat()) {
    const name = String(isRecord(macro) ? macro.Name : macro);
    if (name !== EVALUATED_MACRO)
      unknown.push({ name, type: 'Transform', reason: 'only CloudFormation runs this macro' });
  }
  const sections = Object.entries(SECTIONS).map(([section, problemOf]) => {
    const members = json[section] ?? {};
    const problem = recordProblem(section, members);
    if (problem !== undefined) unknown.push({ name: section, type: 'Template', reason: problem });
    const known = Object.entries(isRecord(members) ? members : {}).filter(([name, member]) => {
      const reason = unknownForm(name, member, problemOf);
      const { Type } = Object(section === 'Resources' ? member : undefined);
      if (reason !== undefined) unknown.push({ name, type: typeof Type === 'string' ? Type : section, reason });
      return reason === undefined;
    });
    return [section, Object.fromEntries(known)];
  });
  return { template: Object.fromEntries(sections), unknown };
}

function unknownForm(name: string, member: unknown, problemOf: Problem): string | undefined {
  if (name.startsWith('Fn::')) return `only CloudFormation expands ${name.split('::', 2).join('::')}`;
  return isRecord(member) ? problemOf(member) : `it must be an object, got ${describeValue(member)}`;
}

function textProblem(field: string, value: unknown): string | undefined {
  return typeof value === 'string' ? undefined : `${field} must be a string, got ${describeValue(value)}`;
}

function recordProblem(field: string, value: unknown): string | undefined {
  return isRecord(value) ? undefined : `${field} must be an object, got ${describeValue(value)}`;
}
