import { type CfnResource, Stack } from 'aws-cdk-lib';

/**
 * The properties that the template will have of a resource, as far as they are known by now.
 *
 * Rendered rather than read: the floor of aws-cdk-lib knows some properties as an override only.
 */
export function templateProperties<Properties extends object>(resource: CfnResource): Properties {
  const { Resources } = Stack.of(resource).resolve(resource._toCloudFormation());
  return Object.values<{ Properties?: Properties }>(Resources)[0]?.Properties ?? ({} as Properties);
}
