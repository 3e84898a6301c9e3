import { readGuide } from '../construct/guide-link';
import {
  type ComparedStack,
  type NameOf,
  type ResourceChange,
  referredKeys,
  resourceChanges,
  resourceKey,
  type StackVersion,
} from './compared-stacks';
import { type Finding, finding } from './finding';
import { environmentOf } from './function-findings';
import { indexNames } from './index-and-replica-findings';
import type { Replacement } from './resource-findings';
import { RolePermissions } from './role-permissions';

const GUIDE = readGuide('index-resharding', 'what-cannot-change');

/**
 * A finding for each removed index, with the functions that read it in the deployed or in the new template. DynamoDB
 * deletes the index before CloudFormation updates the functions that refer to its table.
 */
export function readerFindings(
  stacks: readonly ComparedStack[],
  replaced: ReadonlyMap<string, Replacement>,
  nameOf: NameOf,
): Finding[] {
  const readers = stacks.flatMap(({ deployed, synthesized }) =>
    configuredFunctions([...(deployed ? [deployed] : []), synthesized]),
  );
  const permissions = [
    stacks.flatMap(({ deployed }) => deployed ?? []),
    stacks.map(({ synthesized }) => synthesized),
  ].map((versions) => new RolePermissions(versions));
  return stacks.flatMap(resourceChanges).flatMap((table) => {
    if (replaced.has(resourceKey(table))) return [];
    const names = indexNames(table.synthesized);
    const dropped = indexNames(table.deployed).filter((name) => !names.includes(name));
    return dropped.map((indexName) => {
      const found = readers.filter((reader) => hasConfig(reader, table, indexName)).map(({ path }) => path);
      if (found.length > 0) return indexInUse(table, indexName, [...new Set(found)].map(nameOf));
      const permitted = permissions.flatMap((each) => each.holdersOf(READS, resourceKey(table), indexName));
      return indexDeleted(table, indexName, [...new Set(permitted)].map(nameOf));
    });
  });
}

const READS = ['dynamodb:Query', 'dynamodb:Scan'];

function indexInUse(table: ResourceChange, indexName: string, readers: readonly string[]): Finding {
  const text =
    `index ${indexName} would be deleted while ${readers.join(' and ')} still ${readers.length === 1 ? 'reads' : 'read'} it: ` +
    'queries fail as soon as DynamoDB begins to delete the index. First deploy the readers without the index, and then the table ' +
    `without it.${GUIDE}`;
  return finding(table, 'Deployment.indexInUse', 'failing', 'split', text);
}

function indexDeleted(table: ResourceChange, indexName: string, permitted: readonly string[]): Finding {
  const check =
    permitted.length === 0
      ? 'First check that no application queries the index.'
      : `The policies of these functions or roles allow queries of the index: ${listed(permitted)}. First check that none of them, and no other application, ` +
        'queries the index.';
  const text = `index ${indexName} would be deleted, and DynamoDB needs a backfill to create it again. ${check}${GUIDE}`;
  return finding(table, 'Deployment.indexDeleted', 'deleted', 'prepare', text);
}

/** The most names in a text. */
const MAX_NAMES = 12;

/** Names in a text, at most twelve. */
export function listed(names: readonly string[]): string {
  const others = names.length - MAX_NAMES;
  return names.slice(0, MAX_NAMES).join(', ') + (others > 0 ? ` and ${others} more` : '');
}

/** An environment variable of a function. */
export interface ConfiguredFunction {
  /** The key of the function. */
  readonly path: string;
  /** The name of the variable. */
  readonly name: string;
  /** The value of the variable, as JSON. */
  readonly variable: string;
  /** The keys of the resources to which the variable refers. */
  readonly resources: readonly string[];
}

/** Whether an environment variable has the configuration of an index of the table. */
export function hasConfig(
  { variable, resources }: ConfiguredFunction,
  table: ResourceChange,
  indexName: string,
): boolean {
  // The configuration of a reader is JSON, and `variable` contains this JSON as a string.
  return variable.includes(`\\"indexName\\":\\"${indexName}\\"`) && resources.includes(resourceKey(table));
}

/** The environment variables of the functions in templates. */
export function configuredFunctions(versions: readonly StackVersion[]): ConfiguredFunction[] {
  return versions.flatMap(({ scope, resources }) =>
    [...resources].flatMap(([logicalId, resource]) => {
      const declared = environmentOf(scope.resource(logicalId)!);
      return Object.entries(environmentOf(resource)).map(([name, value]) => ({
        path: resourceKey({ stack: scope.stack.id, logicalId }),
        name,
        variable: JSON.stringify(value),
        resources: referredKeys(declared[name], scope),
      }));
    }),
  );
}
