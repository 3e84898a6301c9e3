/**
 * The same map in the order of its keys: a map of another language arrives in another order on every run, which must not
 * change a template. Keys compare by UTF-16 code unit, the same in every locale.
 */
export function sortedByKey<V>(map: { readonly [key: string]: V }): { [key: string]: V } {
  return Object.fromEntries(
    Object.keys(map)
      .sort()
      .map((key) => [key, map[key]!]),
  );
}
