import type { Template } from 'aws-cdk-lib/assertions';

/**
 * A template as a reviewer reads it: without assets, what the CDK decides by its version, and what repeats itself; with a
 * reference in a single line, such as `<Events.Arn>`.
 */
export function readableTemplate(template: Template): unknown {
  const { Parameters, Rules, ...rest } = template.toJSON();
  return JSON.parse(JSON.stringify(rest), (key, value) => {
    if (NOISE.has(key)) return undefined;
    return typeof value === 'object' && value !== null ? withReferencesInALine(value) : value;
  });
}

/** The code of a function, and what follows from the deletion policy of a resource. */
const NOISE = new Set(['Code', 'Handler', 'Runtime', 'UpdateReplacePolicy']);

function withReferencesInALine(value: Record<string, unknown>): unknown {
  const [[intrinsic, parameter] = ['', undefined], ...more] = Object.entries(value);
  if (more.length > 0) return value;
  if (intrinsic === 'Ref') return `<${parameter}>`;
  if (intrinsic === 'Fn::GetAtt') return `<${(parameter as string[]).join('.')}>`;
  if (intrinsic === 'Fn::Join') return (parameter as [string, string[]])[1].join((parameter as [string])[0]);
  return value;
}

/** The body of a dashboard as CloudWatch reads it, with `<...>` for what only the deployment knows. */
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
