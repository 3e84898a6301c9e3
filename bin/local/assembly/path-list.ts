/** The largest number of paths in one line. Types that are not emulated can have hundreds of resources. */
export const PATHS_IN_LINE = 5;

/** Groups resources by a text. Returns each text with a list of the construct paths. */
export function pathsByText<T extends { readonly path: string }>(
  resources: readonly T[],
  textOf: (resource: T) => string,
  pathsInLine = PATHS_IN_LINE,
): [text: string, paths: string][] {
  const groups = new Map<string, string[]>();
  for (const resource of resources) {
    const text = textOf(resource);
    groups.set(text, [...(groups.get(text) ?? []), resource.path]);
  }
  return [...groups].map(([text, paths]) => {
    const more = paths.length - pathsInLine;
    return [text, more > 0 ? `${paths.slice(0, pathsInLine).join(', ')} and ${more} more` : paths.join(', ')];
  });
}
