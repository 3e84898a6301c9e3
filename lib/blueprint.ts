import { PropertyInjectors } from 'aws-cdk-lib';
import type { IConstruct } from 'constructs';

/**
 * Whether a property injector (a blueprint) of a scope above has a say in a class of constructs. Defaults of ours then
 * step back, for it takes whatever is passed on for the caller's own choice.
 *
 * @param propertyInjectionId the `PROPERTY_INJECTION_ID` of the class
 */
export function hasBlueprint(scope: IConstruct, propertyInjectionId: string): boolean {
  return scope.node.scopes.some(
    (each) =>
      PropertyInjectors.hasPropertyInjectors(each) && PropertyInjectors.of(each).for(propertyInjectionId) !== undefined,
  );
}
