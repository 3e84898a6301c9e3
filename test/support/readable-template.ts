import type { Template } from 'aws-cdk-lib/assertions';

/**
 * A template that is easy to review. It leaves out assets, repeated values, and values that depend on the version of
 * the CDK. A reference is one line, such as `<Events.Arn>`.
 */
export function readableTemplate(template: Template): unknown {
  const { Parameters, Rules, ...rest } = template.toJSON();
  return JSON.parse(JSON.stringify(rest), (key, value) => {
    if (NOISE.has(key)) return undefined;
    return typeof value === 'object' && value !== null ? withReferencesInALine(value) : value;
  });
}

/** The properties that describe the code of a function, and the update policy, which repeats the deletion policy. */
const NOISE = new Set(['Code', 'Handler', 'Runtime', 'UpdateReplacePolicy']);

function withReferencesInALine(value: Record<string, unknown>): unknown {
  const [[intrinsic, parameter] = ['', undefined], ...more] = Object.entries(value);
  if (more.length > 0) return value;
  if (intrinsic === 'Ref') return `<${parameter}>`;
  if (intrinsic === 'Fn::GetAtt') return `<${(parameter as string[]).join('.')}>`;
  if (intrinsic === 'Fn::Join') return (parameter as [string, string[]])[1].join((parameter as [string])[0]);
  return value;
}

/** The body of a dashboard as CloudWatch reads it, with `<...>` for values that exist only after the deployment. */
export function dashboardBody(body: { 'Fn::Join': [string, unknown[]] }): { widgets: Widget[] } {
  const [, parts] = body['Fn::Join'];
  return JSON.parse(parts.map((part) => (typeof part === 'string' ? part : '<...>')).join(''));
}

export interface Widget {
  type: string;
  properties: {
    title?: string;
    markdown?: string;
    metrics?: unknown[];
    alarms?: string[];
    annotations?: { horizontal: { value: number; label: string }[] };
  };
}
