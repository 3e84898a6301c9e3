import { type CfnResource, Stack } from 'aws-cdk-lib';

/**
 * The properties that a resource currently has in the template.
 *
 * This function renders the resource, because in the oldest supported aws-cdk-lib some properties exist only as
 * overrides.
 */
export function templateProperties<Properties extends object>(resource: CfnResource): Properties {
  const { Resources } = Stack.of(resource).resolve(resource._toCloudFormation());
  return Object.values<{ Properties?: Properties }>(Resources)[0]?.Properties ?? ({} as Properties);
}
