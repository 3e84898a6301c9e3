/**
 * jsii translates the examples of docstrings, and leaves the names in their sentences as TypeScript has them. This gives the sentences
 * of an assembly the names of Python, where they stand as code: those of the members of the type that they document, and in any text
 * those of methods, and those that stand with their type. Others stay: `partitionKey` is a field of an event, too.
 */

/** As jsii-pacmak calls members in Python. */
export function pythonName(name) {
  return name.replace(/([a-z\d])([A-Z])/g, '$1_$2').toLowerCase();
}

/** The assembly, its documentation in the names of Python. */
export function withPythonNames(assembly) {
  const types = Object.values(assembly.types);
  const methods = new Set(types.flatMap(({ methods = [] }) => methods.map(({ name }) => name)).filter(isCamelCase));
  const members = new Set(types.flatMap((type) => membersOf(type).map(({ name }) => name)).filter(isCamelCase));
  const typeNames = new Set(types.map(({ name }) => name));
  const known = { methods, members, typeNames };
  const { readme } = assembly;
  return {
    ...assembly,
    ...(readme && { readme: { ...readme, markdown: renamed(readme.markdown, new Set(), known) } }),
    types: Object.fromEntries(
      Object.entries(assembly.types).map(([fqn, type]) => [fqn, withDocs(type, ownNames(type, assembly.types), known)]),
    ),
  };
}

function isCamelCase(name) {
  return /^[a-z]+\d*[A-Z]/.test(name);
}

function membersOf({ methods = [], properties = [] }) {
  return [...methods, ...properties];
}

/** The names that a sentence about a type means by themselves: of its members, and of those that its calls take. */
function ownNames(type, types) {
  const names = new Set();
  const add = (each) => {
    for (const { name } of membersOf(each)) names.add(name);
    for (const base of [each.base, ...(each.interfaces ?? [])]) if (types[base]) add(types[base]);
  };
  add(type);
  const calls = [type.initializer, ...(type.methods ?? [])].filter((call) => call !== undefined);
  for (const { name, type: parameterType } of calls.flatMap(({ parameters = [] }) => parameters)) {
    names.add(name);
    const struct = types[parameterType.fqn];
    if (struct?.datatype) add(struct);
  }
  return new Set([...names].filter(isCamelCase));
}

/** Every documentation below a type; of an example, nothing, for jsii translates it. */
function withDocs(node, own, known, key) {
  if (key === 'docs') return withTexts(node, (text) => renamed(text, own, known));
  if (Array.isArray(node)) return node.map((each) => withDocs(each, own, known));
  if (typeof node !== 'object' || node === null) return node;
  return mapped(node, (each, name) => withDocs(each, own, known, name));
}

function withTexts(docs, change) {
  return mapped(docs, (text, name) => {
    if (typeof text === 'object') return withTexts(text, change);
    return name === 'example' || typeof text !== 'string' ? text : change(text);
  });
}

function mapped(node, change) {
  return Object.fromEntries(Object.entries(node).map(([name, each]) => [name, change(each, name)]));
}

/** What stands as code between the fences of a text. */
function renamed(text, own, known) {
  return text
    .split(/(^```[\s\S]*?^```)/m)
    .map((part) =>
      part.startsWith('```') ? part : part.replace(/`([^`\n]+)`/g, (_, code) => `\`${renamedCode(code, own, known)}\``),
    )
    .join('');
}

function renamedCode(code, own, { methods, members, typeNames }) {
  if (own.has(code) || methods.has(code)) return pythonName(code);
  const [, type, member, rest] = /^([A-Z]\w*)\.([a-z]\w*)(\(.*\))?$/.exec(code) ?? [];
  if (typeNames.has(type) && members.has(member)) return `${type}.${pythonName(member)}${rest ?? ''}`;
  // A call of an object by any name: `byStatus.bindWriter(fn)`, `scale()`.
  const [, object = '', called, given] = /^(\w+\.)?([a-z]\w*)(\(.*\))$/.exec(code) ?? [];
  return methods.has(called) ? `${object && `${pythonName(object.slice(0, -1))}.`}${pythonName(called)}${given}` : code;
}
