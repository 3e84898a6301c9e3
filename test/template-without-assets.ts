import type { Template } from 'aws-cdk-lib/assertions';

/** A template that stays the same when only the code of functions changes, or the runtime that the CDK gives its own. */
export function withoutAssets(template: Template): unknown {
  const { Parameters, Rules, ...rest } = template.toJSON();
  return JSON.parse(
    JSON.stringify(rest)
      .replaceAll(/[0-9a-f]{64}\.zip/g, '<asset>.zip')
      .replaceAll(/nodejs\d+\.x/g, '<runtime>'),
  );
}
