import type { Template } from 'aws-cdk-lib/assertions';

/** A template that stays the same when only the code of functions changes, or what the CDK decides by its version. */
export function withoutAssets(template: Template): unknown {
  const { Parameters, Rules, ...rest } = template.toJSON();
  const text = JSON.stringify(rest, (key, value) => (key === 'DashboardBody' ? dashboardBody(value) : value));
  return JSON.parse(text.replaceAll(/[0-9a-f]{64}\.zip/g, '<asset>.zip').replaceAll(/nodejs\d+\.x/g, '<runtime>'));
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
