import {
  intrinsicName,
  type Lookup,
  resolve,
  resolveKnown,
  type Selection,
} from '../../../lib/cloudformation/intrinsics';
import { isObject } from '../../../lib/core/kernel/checks';
import { type Declared, required } from './left-out';
import { PATHS_IN_LINE, pathsByText } from './path-list';
import type { PropertyTable } from './properties/property-table';
import { PROPERTY_TABLES } from './properties/property-tables';

/** A property that a template sets and that changes the app on AWS, but not in a local run. */
export interface IgnoredProperty {
  /** Construct path of the resource. */
  readonly path: string;
  /** The names of the property and of its parents, such as `FilterCriteria.Filters.Pattern`. */
  readonly property: string;
  readonly reason: string;
}

/**
 * The properties of a resource that a local run honours, except one path. Leaves out a resource with an unknown value.
 */
export function honouredProperties({ scope, logicalId, type }: Declared, except?: string): Record<string, unknown> {
  const paths = PROPERTY_TABLES[type]!.honoured.filter((path) => path !== except);
  return required(scope.properties(logicalId, selectionOf(paths)));
}

function selectionOf(paths: readonly string[]): { readonly [name: string]: Selection } {
  const byName = new Map<string, string[]>();
  for (const path of paths) {
    const [name, ...inner] = path.split('.');
    byName.set(name!, [...(byName.get(name!) ?? []), ...(inner.length > 0 ? [inner.join('.')] : [])]);
  }
  return Object.fromEntries([...byName].map(([name, inner]) => [name, inner.length > 0 ? selectionOf(inner) : true]));
}

/** The honoured properties whose unknown parts have lines of their own. */
const WITH_OWN_LINES = ['Environment.Variables', 'Layers', 'Targets.Arn', 'Targets.Input'];

const unknownValue = (reason: string) => `its value is unknown: ${reason}`;

/** The properties that a local run ignores, of a resource that runs. */
export function ignoredProperties({ scope, logicalId, path, type }: Declared): IgnoredProperty[] {
  const table = PROPERTY_TABLES[type]!;
  const found = new Map<string, string>();
  const visit = (property: string, value: unknown): void => {
    const treatment = treatmentOf(property, table);
    if (treatment === 'without effect') return;
    if (treatment === 'honoured') {
      const known = resolve(value, scope);
      if ('reason' in known && !WITH_OWN_LINES.includes(property)) found.set(property, unknownValue(known.reason));
      return;
    }
    if (treatment !== 'nested') {
      if (!isHarmless(resolve(value, scope), table.harmless?.[property])) found.set(property, treatment.named);
      return;
    }
    for (const part of [resolveKnown(value, scope)].flat()) {
      const whole = intrinsicName(part) === undefined ? undefined : resolve(part, scope);
      if (whole !== undefined && 'reason' in whole) found.set(property, unknownValue(whole.reason));
      else for (const [name, inner] of Object.entries(Object(part))) visit(`${property}.${name}`, inner);
    }
  };
  for (const [name, value] of Object.entries(scope.declared(logicalId))) visit(name, value);
  return [...found].map(([property, reason]) => ({ path, property, reason }));
}

/** The properties of a resource that can change a local run. */
export function effectiveProperties({ scope, logicalId, type }: Declared): unknown[] {
  const properties = Object.entries(scope.declared(logicalId));
  return properties.flatMap(([name, value]) =>
    treatmentOf(name, PROPERTY_TABLES[type]!) === 'without effect' ? [] : [value],
  );
}

type Treatment = 'honoured' | 'without effect' | 'nested' | { readonly named: string };

/** A property of a newer CDK than the tables know is named, because it can have any effect. */
const NOT_KNOWN = 'this version of even-shards does not know the property';

export function treatmentOf(property: string, { honoured, withoutEffect, named }: PropertyTable): Treatment {
  const isIn = (paths: readonly string[]) => paths.includes(property);
  if (isIn(honoured)) return 'honoured';
  if (Object.values(withoutEffect).some(isIn)) return 'without effect';
  const reason = Object.keys(named).find((each) => isIn(named[each]!));
  if (reason !== undefined) return { named: reason };
  const all = [honoured, ...Object.values(withoutEffect), ...Object.values(named)].flat();
  return all.some((path) => path.startsWith(`${property}.`)) ? 'nested' : { named: NOT_KNOWN };
}

/** CloudFormation treats a number and its text as equal, and an empty list as an absent value. */
function isHarmless(lookup: Lookup, harmless: unknown): boolean {
  if ('reason' in lookup) return false;
  const { value } = lookup;
  if (value === undefined || (Array.isArray(value) && value.length === 0)) return true;
  return harmless !== undefined && !isObject(value) && String(value) === String(harmless);
}

/** One line for each property and reason, with its resources. */
export function describeIgnored(ignored: readonly IgnoredProperty[], pathsInLine = PATHS_IN_LINE): string[] {
  return pathsByText(ignored, ({ property, reason }) => JSON.stringify([property, reason]), pathsInLine).map(
    ([text, paths]) => {
      const [property, reason] = JSON.parse(text);
      return `ignored here: ${property} of ${paths}, ${reason}`;
    },
  );
}
