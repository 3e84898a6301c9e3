import type { Lookup } from '../../../lib/cloudformation/intrinsics';
import type { LocalScope } from './local-names';
import { PATHS_IN_LINE, pathsByText } from './path-list';

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

const NOT_EMULATED = 'not emulated';
/** The reason for a resource that is not emulated, and to which no running resource refers. */
const UNUSED = 'not emulated, and no resource that runs here refers to it';
const NOT_NEEDED = 'not needed here';

/** Resource types without a visible effect in an emulator. The `Custom` types are custom resources of the CDK. */
const NOT_NEEDED_TYPES =
  /^AWS::(IAM|CDK)::|^AWS::Logs::LogGroup$|^AWS::Lambda::(LayerVersion|Permission)$|^Custom::(CrossRegionExport(Reader|Writer)|ECRAutoDeleteImages|LogRetention|S3AutoDeleteObjects|VpcRestrictDefaultSG)$/;

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

/** The entry of a resource whose type is not emulated. `isUsed` says whether a running resource refers to it. */
export function notEmulated(declared: Declared, isUsed: boolean): LeftOut {
  const needed = !NOT_NEEDED_TYPES.test(declared.type);
  return leftOutFor(declared, needed ? (isUsed ? NOT_EMULATED : UNUSED) : NOT_NEEDED, needed);
}

/** The value of a lookup. Leaves out the resource if the value is unknown. */
export function required<T>(lookup: Lookup<T>, property?: string): T {
  if ('value' in lookup) return lookup.value;
  throw new LeftOutReason(property === undefined ? lookup.reason : `${property} is unknown: ${lookup.reason}`);
}

/**
 * Describes the resources that the app needs: one line for each type and reason, and one line for all resources to which
 * no running resource refers.
 */
export function describeLeftOut(leftOut: readonly LeftOut[], pathsInLine = PATHS_IN_LINE): string[] {
  const needed = leftOut.filter((each) => each.needed);
  const isUnused = ({ reason }: LeftOut) => reason === UNUSED && pathsInLine === PATHS_IN_LINE;
  const named = pathsByText(
    needed.filter((each) => !isUnused(each)),
    ({ type, reason }) => `(${type}), ${reason}`,
    pathsInLine,
  );
  const unused = counts(needed.filter(isUnused).map(({ type }) => type));
  return [
    ...named.map(([text, paths]) => `left out: ${paths} ${text}`),
    ...(unused === '' ? [] : [`left out: ${unused}, ${UNUSED}`]),
  ];
}

/** Describes the resources that the app does not need: one line for all of them. */
export function describeNotNeeded(leftOut: readonly LeftOut[]): string[] {
  const types = leftOut.flatMap(({ needed, reason, type }) => (needed ? [] : [reason === NOT_NEEDED ? type : reason]));
  return types.length > 0 ? [`${NOT_NEEDED}: ${counts(types)}`] : [];
}

function counts(names: readonly string[]): string {
  const count = new Map<string, number>();
  for (const name of names) count.set(name, (count.get(name) ?? 0) + 1);
  return [...count]
    .sort()
    .map(([name, times]) => `${name} (${times})`)
    .join(', ');
}
