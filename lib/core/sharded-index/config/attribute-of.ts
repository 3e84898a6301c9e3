/** An attribute of an item. Undefined if it has none: every object has some names by itself, such as `constructor`. */
export function attributeOf<V>(item: Readonly<Record<string, V>>, name: string): V | undefined {
  return name in Object.prototype && !Object.hasOwn(item, name) ? undefined : item[name];
}
