import { readGuide } from '../construct/guide-link';
import { type Finding, finding } from './finding';
import { environmentOf } from './function-findings';
import { replacements } from './resource-findings';
import { indexNames } from './table-findings';
import { ownResource, refersTo, resourceChanges, type StackChange, type Template } from './template';

/** What a deployment takes from those who still use it: the index of a reader, the export of another stack. */
export function readerFindings(changes: readonly StackChange[]): Finding[] {
  return changes.flatMap((change) => [...droppedIndexes(change, changes), ...usedExports(change, changes)]);
}

/**
 * An index that goes while a function is told of it, in this deployment or in the one before: DynamoDB deletes the index before
 * CloudFormation updates the functions that refer to its table.
 */
function droppedIndexes(change: StackChange, changes: readonly StackChange[]): Finding[] {
  return resourceChanges(change).flatMap((table) => {
    const names = indexNames(table.coming);
    const dropped = indexNames(table.deployed).filter((name) => !names.includes(name));
    return dropped.flatMap((indexName) => {
      const told = changes.flatMap(({ stack, deployed, coming }) =>
        [deployed, coming].flatMap((template) => {
          const refersToTable = referenceTo(table.logicalId, stack === change.stack ? undefined : change.deployed);
          return functionsTold(template, indexName, refersToTable).map((reader) => `${stack}/${reader}`);
        }),
      );
      const readers = [...new Set(told)];
      if (readers.length === 0) return [];
      const text =
        `index ${indexName} would go while ${readers.join(' and ')} ${readers.length === 1 ? 'is' : 'are'} told of it: ` +
        'queries fail from the moment that DynamoDB begins to delete it. Deploy the readers without it before, and the table ' +
        `without it then.${readGuide('index-resharding', 'what-cannot-change')}`;
      return [finding(table, 'Deployment.indexInUse', 'failing', 'split', text)];
    });
  });
}

/** Whether a value refers to a resource: of its own template, or of another stack, through one of its exports. */
function referenceTo(logicalId: string, other: Template | undefined): (value: unknown) => boolean {
  if (other === undefined) return (value) => refersTo(value, logicalId);
  const exported = exportsOf(other).filter(([, value]) => refersTo(value, logicalId));
  return (value) => exported.some(([name]) => imports(value, name));
}

/** The logical ids of functions with a variable that names the index and refers to its table. */
function functionsTold(
  template: Template | undefined,
  indexName: string,
  refersToTable: (value: unknown) => boolean,
): string[] {
  return Object.entries(template?.Resources ?? {}).flatMap(([logicalId, resource]) => {
    const isTold = Object.values(environmentOf(resource)).some(
      (value) => refersToTable(value) && JSON.stringify(value).includes(`\\"indexName\\":\\"${indexName}\\"`),
    );
    return isTold ? [logicalId] : [];
  });
}

/** CloudFormation refuses to change or delete an export while a deployed stack imports it. */
function usedExports(change: StackChange, changes: readonly StackChange[]): Finding[] {
  const { stack, deployed, coming } = change;
  if (deployed === undefined) return [];
  const next = new Map(exportsOf(coming));
  const replaced = [...replacements(change).keys()];
  return exportsOf(deployed).flatMap(([name, value]) => {
    const isSame = JSON.stringify(next.get(name)) === JSON.stringify(value);
    if (isSame && !replaced.some((logicalId) => refersTo(value, logicalId))) return [];
    const users = changes.filter((other) => other.stack !== stack && imports(other.deployed, name));
    if (users.length === 0) return [];
    const text =
      `the export ${name} would ${next.has(name) ? 'change' : 'go'} while ${users.map((user) => user.stack).join(' and ')} imports it, which ` +
      'CloudFormation refuses. Deploy the stacks that import it without it before; `exportValue` of the stack keeps an export meanwhile.';
    return [
      finding(
        { stack, logicalId: resourceOf(deployed, value) ?? name },
        'Deployment.exportInUse',
        'refused',
        'split',
        text,
      ),
    ];
  });
}

function exportsOf({ Outputs = {} }: Template): [name: string, value: unknown][] {
  return Object.values(Outputs).flatMap(({ Value, Export }): [string, unknown][] =>
    typeof Export?.Name === 'string' ? [[Export.Name, Value]] : [],
  );
}

function imports(value: unknown, name: string): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if ((value as Record<string, unknown>)['Fn::ImportValue'] === name) return true;
  return Object.values(value).some((member) => imports(member, name));
}

/** The resource that an exported value is of. */
function resourceOf(template: Template, value: unknown): string | undefined {
  return Object.keys(template.Resources ?? {}).find(
    (logicalId) => ownResource(template, logicalId) !== undefined && refersTo(value, logicalId),
  );
}
