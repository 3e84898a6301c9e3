/**
 * Returns an attribute of an item, or undefined if the item does not have the attribute. The function ignores names that every
 * JavaScript object inherits, such as `constructor`.
 */
export function attributeOf<V>(item: Readonly<Record<string, V>>, name: string): V | undefined {
  return name in Object.prototype && !Object.hasOwn(item, name) ? undefined : item[name];
}
