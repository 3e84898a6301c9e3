import type { Lookup } from '../../../lib/cloudformation/intrinsics';
import type { LocalScope } from './local-names';

/** A resource of the app that does not run here. */
export interface LeftOut {
  /** Construct path. */
  readonly path: string;
  readonly type: string;
  readonly reason: string;
  /** Whether the app behaves differently from AWS without the resource. */
  readonly needed: boolean;
}

/** A resource of a template whose condition is not false. */
export interface Declared {
  readonly scope: LocalScope;
  readonly logicalId: string;
  readonly type: string;
  /** Construct path. */
  readonly path: string;
}

/** Planning leaves out the resource, and continues with the others. The message is the reason. */
export class LeftOutReason extends Error {}

export const NOT_EMULATED = 'not emulated';
export const NOT_NEEDED = 'not needed here';

/**
 * Resource types without a visible effect in an emulator. An alias needs no resource, because an invocation passes its
 * name to the function.
 */
const NOT_NEEDED_TYPES =
  /^AWS::(IAM|CDK)::|^AWS::Logs::LogGroup$|^AWS::Lambda::(Alias|LayerVersion|Permission|Version)$|^AWS::Kinesis::StreamConsumer$/;

/** The resource that `plan` returns. If `plan` throws a reason, adds the resource to the list instead. */
export function plannedOrLeftOut<T>(declared: Declared, leftOut: LeftOut[], plan: () => T): T[] {
  try {
    return [plan()];
  } catch (error) {
    if (!(error instanceof LeftOutReason)) throw error;
    leftOut.push(leftOutFor(declared, error.message));
    return [];
  }
}

export function leftOutFor({ path, type }: Declared, reason: string, needed = true): LeftOut {
  return { path, type, reason, needed };
}

/** The entry of a resource whose type is not emulated. */
export function notEmulated(declared: Declared): LeftOut {
  const needed = !NOT_NEEDED_TYPES.test(declared.type);
  return leftOutFor(declared, needed ? NOT_EMULATED : NOT_NEEDED, needed);
}

/** The value of a lookup. Leaves out the resource if the value is unknown. */
export function required<T>(lookup: Lookup<T>, property?: string): T {
  if ('value' in lookup) return lookup.value;
  throw new LeftOutReason(property === undefined ? lookup.reason : `${property} is unknown: ${lookup.reason}`);
}

/** The largest number of paths in one line. Types that are not emulated can have hundreds of resources. */
const PATHS_IN_LINE = 5;

/**
 * Describes the resources that a run leaves out: one line for each type and reason, and one line for all resources that
 * the run does not need.
 */
export function describeLeftOut(leftOut: readonly LeftOut[]): string[] {
  const groups = new Map<string, LeftOut[]>();
  for (const each of leftOut.filter(({ needed }) => needed)) {
    const group = `(${each.type}), ${each.reason}`;
    groups.set(group, [...(groups.get(group) ?? []), each]);
  }
  const counts = new Map<string, number>();
  for (const { type, reason } of leftOut.filter(({ needed }) => !needed)) {
    const what = reason === NOT_NEEDED ? type : reason;
    counts.set(what, (counts.get(what) ?? 0) + 1);
  }
  const notNeeded = [...counts].sort().map(([type, count]) => `${type} (${count})`);
  return [
    ...[...groups].map(([group, members]) => `left out: ${pathList(members)} ${group}`),
    ...(notNeeded.length > 0 ? [`${NOT_NEEDED}: ${notNeeded.join(', ')}`] : []),
  ];
}

function pathList(members: readonly LeftOut[]): string {
  const paths = members.map(({ path }) => path);
  const more = paths.length - PATHS_IN_LINE;
  return more > 0 ? `${paths.slice(0, PATHS_IN_LINE).join(', ')} and ${more} more` : paths.join(', ');
}
