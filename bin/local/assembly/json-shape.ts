import { isObject } from '../../../lib/core/kernel/checks';

/** A check of external JSON. Returns a message that begins with the path of the invalid value, or undefined. */
export type Shape = (json: unknown, path: string) => string | undefined;

export const text: Shape = (json, path) => (typeof json === 'string' ? undefined : `${path} must be a string`);

export const anything: Shape = () => undefined;

export function optional(shape: Shape): Shape {
  return (json, path) => (json === undefined ? undefined : shape(json, path));
}

export function listOf(shape: Shape): Shape {
  return (json, path) => {
    if (!Array.isArray(json)) return `${path} must be a list`;
    return firstProblem(json.entries(), (index, item) => shape(item, `${path}[${index}]`));
  };
}

/** An object with any field names, whose values all have this shape. */
export function mapOf(shape: Shape): Shape {
  return (json, path) => {
    if (!isObject(json) || Array.isArray(json)) return `${path || 'it'} must be an object`;
    return firstProblem(Object.entries(json), (name, member) => shape(member, below(path, name)));
  };
}

/** An object whose fields have these shapes. Other fields are allowed. */
export function fields(shapes: Readonly<Record<string, Shape>>): Shape {
  return (json, path) => {
    if (!isObject(json) || Array.isArray(json)) return `${path || 'it'} must be an object`;
    return firstProblem(Object.entries(shapes), (name, shape) => shape(ownField(json, name), below(path, name)));
  };
}

function firstProblem<N, T>(
  members: Iterable<readonly [N, T]>,
  problemOf: (name: N, member: T) => string | undefined,
): string | undefined {
  for (const [name, member] of members) {
    const problem = problemOf(name, member);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/** The own field of an object. Inherited properties, such as `constructor`, are ignored. */
function ownField(json: Readonly<Record<string, unknown>>, name: string): unknown {
  return Object.hasOwn(json, name) ? json[name] : undefined;
}

function below(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`;
}
