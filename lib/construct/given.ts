/**
 * The properties that were given a value. A property that is passed on as `undefined` counts as given to a property
 * injector of CDK, whose own value it then hides.
 */
export function given<T extends object>(properties: T): T {
  return Object.fromEntries(Object.entries(properties).filter(([, value]) => value !== undefined)) as T;
}
