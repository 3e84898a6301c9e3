import { readGuide } from '../construct/guide-link';
import { type ComparedStack, referredKeys, resourceChanges, resourceKey } from './compared-stacks';
import { type Finding, finding } from './finding';
import { environmentOf } from './function-findings';
import { indexNames } from './table-findings';

/**
 * Findings for removed indexes that a function still reads, in the deployed or in the new template. DynamoDB deletes
 * the index before CloudFormation updates the functions that refer to its table.
 */
export function readerFindings(stacks: readonly ComparedStack[]): Finding[] {
  const readers = stacks.flatMap(readersOf);
  return stacks.flatMap(resourceChanges).flatMap((table) => {
    const names = indexNames(table.synthesized);
    const dropped = indexNames(table.deployed).filter((name) => !names.includes(name));
    return dropped.flatMap((indexName) => {
      // The configuration of a reader is JSON, and `variable` contains this JSON as a string.
      const name = `\\"indexName\\":\\"${indexName}\\"`;
      const paths = readers
        .filter(({ variable, resources }) => variable.includes(name) && resources.includes(resourceKey(table)))
        .map(({ path }) => path);
      const found = [...new Set(paths)];
      if (found.length === 0) return [];
      const text =
        `index ${indexName} would be deleted while ${found.join(' and ')} still ${found.length === 1 ? 'reads' : 'read'} it: ` +
        'queries fail as soon as DynamoDB begins to delete the index. First deploy the readers without the index, and then the table ' +
        `without it.${readGuide('index-resharding', 'what-cannot-change')}`;
      return [finding(table, 'Deployment.indexInUse', 'failing', 'split', text)];
    });
  });
}

/** An environment variable of a function. */
interface Reader {
  readonly path: string;
  readonly variable: string;
  /** The keys of the resources to which the variable refers. */
  readonly resources: readonly string[];
}

function readersOf({ deployed, synthesized }: ComparedStack): Reader[] {
  return [deployed, synthesized].flatMap((version) =>
    [...(version?.resources ?? [])].flatMap(([logicalId, resource]) => {
      const { scope } = version!;
      const declared = environmentOf(scope.resource(logicalId)!);
      return Object.entries(environmentOf(resource)).map(([name, value]) => ({
        path: resourceKey({ stack: scope.stack.id, logicalId }),
        variable: JSON.stringify(value),
        resources: referredKeys(declared[name], scope),
      }));
    }),
  );
}
