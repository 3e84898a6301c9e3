import { anything, fields, mapOf, optional, text } from './json-shape';

/** The parts of a CloudFormation template that a local deployment reads. Its values can contain intrinsic functions. */
export interface Template {
  readonly Parameters?: Readonly<Record<string, TemplateParameter>>;
  readonly Mappings?: Readonly<Record<string, Readonly<Record<string, Readonly<Record<string, unknown>>>>>>;
  readonly Conditions?: Readonly<Record<string, unknown>>;
  readonly Resources?: Readonly<Record<string, TemplateResource>>;
  readonly Outputs?: Readonly<Record<string, TemplateOutput>>;
}

export interface TemplateParameter {
  readonly Type: string;
  readonly Default?: unknown;
}

export interface TemplateResource {
  readonly Type: string;
  readonly Condition?: string;
  readonly Properties?: Readonly<Record<string, unknown>>;
  readonly Metadata?: Readonly<Record<string, unknown>>;
  readonly DeletionPolicy?: string;
  readonly UpdateReplacePolicy?: string;
}

interface TemplateOutput {
  readonly Value: unknown;
  readonly Export?: { readonly Name: unknown };
}

/** The shape that a template must have to match the types above. */
export const TEMPLATE = fields({
  Parameters: optional(mapOf(fields({ Type: text }))),
  Mappings: optional(mapOf(mapOf(mapOf(anything)))),
  Conditions: optional(mapOf(anything)),
  Resources: optional(
    mapOf(
      fields({
        Type: text,
        Condition: optional(text),
        Properties: optional(mapOf(anything)),
        DeletionPolicy: optional(text),
        UpdateReplacePolicy: optional(text),
      }),
    ),
  ),
  Outputs: optional(mapOf(fields({ Export: optional(fields({ Name: anything })) }))),
});
