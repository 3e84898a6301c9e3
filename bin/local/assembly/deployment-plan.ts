import { references } from '../../../lib/cloudformation/references';
import { TABLE_TYPES } from '../../../lib/cloudformation/template';
import { MalformedResourceError, type TableOfApp, tableOf } from '../../cassandra/tables-of-app';
import type { AssemblyStack } from './cloud-assembly';
import { customResourceFunctions } from './custom-resource-functions';
import { type LocalEventSource, type LocalSchedule, plannedEventSource, plannedSchedules } from './event-sources';
import { effectiveProperties, type IgnoredProperty, ignoredProperties } from './ignored-properties';
import { type Declared, type LeftOut, LeftOutReason, leftOutFor, notEmulated, plannedOrLeftOut } from './left-out';
import { constructPath, localScopes } from './local-names';
import type { LocalResource } from './local-resource';
import { ignoredOfFunction, type LocalFunction, plannedFunction, plannedQualifier } from './planned-function';
import { type LocalStream, plannedStream } from './planned-stream';
import { type LocalTable, plannedTable, type TableSupport } from './planned-table';
import type { IsConverted } from './single-attribute-layout';

export interface DeploymentPlan {
  readonly streams: readonly LocalStream[];
  readonly tables: readonly LocalTable[];
  readonly functions: readonly LocalFunction[];
  readonly eventSources: readonly LocalEventSource[];
  readonly schedules: readonly LocalSchedule[];
  /** The tables of Amazon Keyspaces. Empty without a Cassandra. */
  readonly keyspacesTables: readonly TableOfApp[];
  /** Every resource that does not run here. */
  readonly leftOut: readonly LeftOut[];
  /** The properties that a template sets, and without which their resources run here. */
  readonly ignored: readonly IgnoredProperty[];
}

const STREAM = ['AWS::Kinesis::Stream'];
const FUNCTION = ['AWS::Lambda::Function'];
const MAPPING = ['AWS::Lambda::EventSourceMapping'];
const RULE = ['AWS::Events::Rule'];
/** Types that only references of other resources need. */
const NAMES = ['AWS::Kinesis::StreamConsumer'];
const QUALIFIER = ['AWS::Lambda::Alias', 'AWS::Lambda::Version'];
const KEYSPACE = ['AWS::Cassandra::Keyspace'];
const KEYSPACES_TABLE = ['AWS::Cassandra::Table'];

const EMULATED = new Set([STREAM, TABLE_TYPES, FUNCTION, MAPPING, RULE, QUALIFIER, NAMES].flat());

/** The features of the emulators of a run. */
interface Support extends TableSupport {
  /** Whether a Cassandra holds the tables of Amazon Keyspaces. */
  readonly keyspaces?: boolean;
}

/**
 * Resolves everything that the stacks declare. A resource that cannot run is left out, with the reason.
 *
 * `rejected` has the streams and tables that an emulator rejects, by construct path, with the reasons.
 */
export function planDeployment(
  stacks: readonly AssemblyStack[],
  support: Support = {},
  rejected: ReadonlyMap<string, string> = new Map(),
): DeploymentPlan {
  return new Planner(stacks, rejected).plan(support);
}

/** Plans each resource that the stacks declare. */
class Planner {
  private readonly leftOut: LeftOut[] = [];
  private readonly ignored: IgnoredProperty[] = [];
  /** The construct paths of the resources to which planned resources refer. */
  private readonly used = new Set<string>();
  private readonly declared: readonly Declared[];

  constructor(
    stacks: readonly AssemblyStack[],
    private readonly rejected: ReadonlyMap<string, string>,
  ) {
    const all = declaredResources(stacks, this.leftOut);
    const isOfCustomResource = customResourceFunctions(all);
    const isHelper = ({ type, path }: Declared) => FUNCTION.includes(type) && isOfCustomResource(path);
    const helpers = all.filter(isHelper);
    this.leftOut.push(...helpers.map((each) => leftOutFor(each, 'function of a custom resource', false)));
    this.declared = all.filter((each) => !isHelper(each));
  }

  plan(support: Support): DeploymentPlan {
    const streams = this.plannedByName(STREAM, plannedStream);
    const tables = this.plannedByName(TABLE_TYPES, (each) => plannedTable(each, support));
    const isConverted: IsConverted = (tableName, indexName) =>
      tables.some(({ name, converted }) => name === tableName && converted.includes(indexName));
    const qualifiers = this.planned(QUALIFIER, plannedQualifier);
    const functions = this.plannedByName(FUNCTION, (each) => plannedFunction(each, isConverted, qualifiers));
    const isTaken = onlyOnce();
    const eventSources = this.planned(MAPPING, (each) => {
      const source = plannedEventSource(each, streams, tables, functions);
      const { functionName, qualifier, streamArn } = source;
      if (isTaken(`${functionName}:${qualifier} ${streamArn}`)) {
        throw new LeftOutReason('Lambda rejects a second mapping of the same function and source');
      }
      return source;
    });
    const readers = functions.filter(({ name }) => eventSources.some(({ functionName }) => functionName === name));
    const schedules = this.planned(RULE, (each) => plannedSchedules(each, readers, this.leftOut)).flat();
    const keyspacesTables = this.planned(support.keyspaces ? KEYSPACES_TABLE : [], plannedKeyspacesTable);
    this.planned([...NAMES, ...(support.keyspaces ? KEYSPACE : [])], () => undefined);
    this.leaveOutOthers(support.keyspaces ? [...KEYSPACE, ...KEYSPACES_TABLE] : []);
    this.ignored.push(...functions.flatMap(ignoredOfFunction));
    const { leftOut, ignored } = this;
    return { streams, tables, functions, eventSources, schedules, keyspacesTables, leftOut, ignored };
  }

  private planned<T>(types: readonly string[], plan: (each: Declared) => T): T[] {
    return this.declared
      .filter(({ type }) => types.includes(type))
      .flatMap((each) =>
        plannedOrLeftOut(each, this.leftOut, () => {
          for (const { scope, logicalId } of references(effectiveProperties(each), each.scope)) {
            this.used.add(constructPath(scope, logicalId));
          }
          const resource = plan(each);
          this.ignored.push(...ignoredProperties(each));
          return resource;
        }),
      );
  }

  /** Plans resources whose names must differ. */
  private plannedByName<T extends LocalResource>(types: readonly string[], plan: (each: Declared) => T): T[] {
    const pathByName = new Map<string, string>();
    return this.planned(types, (each) => {
      const resource = plan(each);
      claimName(resource, pathByName);
      const reason = this.rejected.get(resource.path);
      if (reason !== undefined) throw new LeftOutReason(reason);
      return resource;
    });
  }

  /** Leaves out the resources of all types that have no emulator. */
  private leaveOutOthers(ofCassandra: readonly string[]): void {
    const others = this.declared.filter(({ type }) => !EMULATED.has(type) && !ofCassandra.includes(type));
    this.leftOut.push(...others.map((each) => notEmulated(each, this.used.has(each.path))));
  }
}

function plannedKeyspacesTable({ scope, logicalId }: Declared): TableOfApp {
  try {
    return tableOf(scope, logicalId);
  } catch (error) {
    throw error instanceof MalformedResourceError ? new LeftOutReason(error.reason) : error;
  }
}

/** The resources of the stacks. A resource with an unknown form or an unknown condition is left out. */
function declaredResources(stacks: readonly AssemblyStack[], leftOut: LeftOut[]): Declared[] {
  return localScopes(stacks).flatMap((scope) => {
    for (const { name, type, reason } of scope.stack.unknown) {
      leftOut.push({ path: constructPath(scope, name), type, reason, needed: true });
    }
    return scope.resources.flatMap(([logicalId, { Type }]) => {
      if (scope.isNested(logicalId)) return [];
      const declared = { scope, logicalId, type: Type, path: constructPath(scope, logicalId) };
      const problem = scope.conditionProblem(logicalId);
      if (problem === undefined) return [declared];
      leftOut.push(leftOutFor(declared, problem));
      return [];
    });
  });
}

/** Returns whether a text was given before. */
function onlyOnce(): (text: string) => boolean {
  const given = new Set<string>();
  return (text) => given.has(text) || !given.add(text);
}

/** Leaves out a resource if an earlier resource has the same name, because a run has one account and one Region. */
function claimName({ name, path }: LocalResource, pathByName: Map<string, string>): void {
  const other = pathByName.get(name);
  pathByName.set(name, other ?? path);
  if (other === undefined) return;
  throw new LeftOutReason(
    `${other} has the same name, ${name}: run one stage at a time, such as with --app cdk.out/assembly-Beta, ` +
      'or omit the name so that CloudFormation generates it',
  );
}
