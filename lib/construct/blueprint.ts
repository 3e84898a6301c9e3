import { type IPropertyInjector, PropertyInjectors } from 'aws-cdk-lib';
import type { IConstruct } from 'constructs';

/**
 * The properties for a construct of CDK: what the user chose, and of our defaults those that neither the user nor a
 * blueprint (property injector) of a scope above sets.
 *
 * A blueprint reads every property that it gets as a choice of the user. So our defaults must not be among them. This
 * function puts a blueprint of ours into the scope, for the one construct that is made next. Our blueprint asks the
 * blueprint above it with the user's choices alone, and adds our defaults to its answer.
 *
 * @param propertyInjectionId the `PROPERTY_INJECTION_ID` of the class
 * @param chosen what the user chose, and what the construct cannot do without
 * @param defaults our defaults, which may depend on what was chosen
 */
export function withDefaults<T extends object>(
  scope: IConstruct,
  propertyInjectionId: string,
  chosen: T,
  defaults: (chosen: T) => Partial<T>,
): T {
  const withOurs = (properties: T) => given({ ...defaults(properties), ...given(properties) });
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
  return given(chosen);
}

/** The nearest blueprint, as CDK finds it. */
function blueprintOf(scope: IConstruct, propertyInjectionId: string): IPropertyInjector | undefined {
  return scope.node.scopes
    .toReversed()
    .filter((each) => PropertyInjectors.hasPropertyInjectors(each))
    .map((each) => PropertyInjectors.of(each).for(propertyInjectionId))
    .find((each) => each !== undefined);
}

/**
 * The properties that were given a value. A property that is passed on as `undefined` counts as given to a property
 * injector of CDK, whose own value it then hides.
 */
export function given<T extends object>(properties: T): T {
  return Object.fromEntries(Object.entries(properties).filter(([, value]) => value !== undefined)) as T;
}
