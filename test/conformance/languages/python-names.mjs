/**
 * jsii translates the examples of docstrings, but keeps TypeScript names in their sentences. This module replaces
 * names in code spans by Python names: the members of the documented type, all methods, and names that follow the name
 * of their type. It does not change other names, because a name can also be the field of an event, such as
 * `partitionKey`.
 */

/** The Python name of a member, as jsii-pacmak creates it. */
export function pythonName(name) {
  return name.replace(/([a-z\d])([A-Z])/g, '$1_$2').toLowerCase();
}

/** The assembly with Python names in its documentation. */
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

/** The names that a sentence about a type can use without the type: its members, and the fields of its parameters. */
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

/** Renames all documentation below a type, except examples, which jsii translates. */
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

/** Renames the code spans of a text outside its code blocks. */
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
