/**
 * An attribute of an item, or undefined if the item does not have it. JavaScript gives every object some names, such as
 * `constructor`.
 */
export function attributeOf<V>(item: Readonly<Record<string, V>>, name: string): V | undefined {
  return name in Object.prototype && !Object.hasOwn(item, name) ? undefined : item[name];
}
