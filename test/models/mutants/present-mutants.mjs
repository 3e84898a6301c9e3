/** The minimum length of an expression that identifies its place. A shorter expression can occur in several places. */
const LEAST_TELLING = 12;

/**
 * Finds mutants of an earlier commit in the present code: the same change of the same expression, in the same function of the same
 * module. If the function or the module has another name now, finds the mutant only if a single place of the core has the
 * expression.
 *
 * @param {object[]} listed the mutants of the earlier commit, as `drawableMutants()` returned them
 * @param {object[]} all `drawableMutants()` of the present code
 * @param {Record<string, string>} renamed the present names of files, of folders (which end with a slash) and of identifiers
 * @returns {{ was: object, mutant?: object }[]}
 */
export function present(listed, all, renamed) {
  const byChange = new Map();
  for (const mutant of all) byChange.set(changeOf(mutant), [...(byChange.get(changeOf(mutant)) ?? []), mutant]);
  return listed.map((was) => {
    const now = renamedIn(was, renamed);
    const same = byChange.get(changeOf(now)) ?? [];
    const ofModule = same.filter(({ file }) => file === now.file);
    const ofFunction = ofModule.filter((each) => each.function === now.function);
    const inPlace = ofFunction.find(({ nth }) => nth === now.nth) ?? only(ofFunction);
    if (inPlace !== undefined || now.before.length < LEAST_TELLING) return { was, mutant: inPlace };
    return { was, mutant: only(ofModule) ?? only(same.filter((each) => each.function === now.function)) ?? only(same) };
  });
}

function changeOf({ change, before, after }) {
  return [change, before, after].join('\n').replaceAll(/\s+/g, ' ');
}

function only(mutants) {
  return mutants.length === 1 ? mutants[0] : undefined;
}

function renamedIn(mutant, renamed) {
  const names = Object.entries(renamed).filter(([old]) => !old.includes('/'));
  const file = Object.entries(renamed).reduce(
    (path, [old, now]) => (path === old || (old.endsWith('/') && path.startsWith(old)) ? path.replace(old, now) : path),
    mutant.file,
  );
  const inText = (text) =>
    names.reduce((rest, [old, now]) => rest.replaceAll(new RegExp(`\\b${old}\\b`, 'g'), now), text);
  const [owner, before, after] = [mutant.function, mutant.before, mutant.after].map(inText);
  return { ...mutant, file, function: owner, before, after };
}
