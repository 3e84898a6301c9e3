/** A JSON object with configurations by name, sorted by name. The configurations may contain tokens. */
export function configsByName(named: readonly (readonly [string, { toConfigJson(): string }])[]): string {
  const sorted = [...named].sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${sorted.map(([name, store]) => `${JSON.stringify(name)}:${store.toConfigJson()}`).join()}}`;
}
