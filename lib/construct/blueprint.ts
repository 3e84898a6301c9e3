import { type IPropertyInjector, PropertyInjectors } from 'aws-cdk-lib';
import type { IConstruct } from 'constructs';

/**
 * The properties for a construct of CDK: the user's choices, and our defaults. A default applies only if neither the
 * user nor a blueprint (property injector) of a parent scope sets the property.
 *
 * A blueprint treats every property that it receives as a choice of the user, so it must not receive our defaults.
 * Therefore this function adds our own blueprint to the scope, only for the next construct. Our blueprint passes the
 * user's choices to the blueprint of the parent scope, and adds our defaults to the result.
 *
 * @param propertyInjectionId the `PROPERTY_INJECTION_ID` of the class
 * @param chosen the user's choices, and the properties that the construct requires
 * @param defaults our defaults, which may depend on the user's choices
 */
export function withDefaults<T extends object>(
  scope: IConstruct,
  propertyInjectionId: string,
  chosen: T,
  defaults: (chosen: T) => Partial<T>,
): T {
  const withOurs = (properties: T) => withoutUndefined({ ...defaults(properties), ...withoutUndefined(properties) });
  const blueprint = blueprintOf(scope, propertyInjectionId);
  if (blueprint === undefined) return withOurs(chosen);
  const injectors = PropertyInjectors.of(scope);
  injectors.add({
    constructUniqueId: propertyInjectionId,
    inject: (properties, context) => {
      injectors.add(blueprint);
      return withOurs(blueprint.inject(properties, context));
    },
  });
  return withoutUndefined(chosen);
}

/** The blueprint that CDK selects: the blueprint of the nearest scope. */
function blueprintOf(scope: IConstruct, propertyInjectionId: string): IPropertyInjector | undefined {
  return scope.node.scopes
    .toReversed()
    .filter((each) => PropertyInjectors.hasPropertyInjectors(each))
    .map((each) => PropertyInjectors.of(each).for(propertyInjectionId))
    .find((each) => each !== undefined);
}

/**
 * Removes properties that are `undefined`. For a property injector of CDK, an `undefined` property is also a choice of
 * the user, and would hide the injector's own value.
 */
export function withoutUndefined<T extends object>(properties: T): T {
  return Object.fromEntries(Object.entries(properties).filter(([, value]) => value !== undefined)) as T;
}
