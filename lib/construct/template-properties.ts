import { type CfnResource, Stack } from 'aws-cdk-lib';

/**
 * The properties that the template will have of a resource, as far as they are known by now.
 *
 * The resource is rendered, because the oldest supported aws-cdk-lib has some properties as overrides only.
 */
export function templateProperties<Properties extends object>(resource: CfnResource): Properties {
  const { Resources } = Stack.of(resource).resolve(resource._toCloudFormation());
  return Object.values<{ Properties?: Properties }>(Resources)[0]?.Properties ?? ({} as Properties);
}
