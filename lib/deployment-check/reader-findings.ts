import { ownResource, type Template } from '../cloudformation/template';
import { readGuide } from '../construct/guide-link';
import { type Finding, finding } from './finding';
import { environmentOf } from './function-findings';
import { replacements } from './resource-findings';
import { indexNames } from './table-findings';
import { refersTo, resourceChanges, type StackChange } from './template';

/** Findings for removed indexes that functions still read, and for removed exports that other stacks import. */
export function readerFindings(changes: readonly StackChange[]): Finding[] {
  return changes.flatMap((change) => [...droppedIndexes(change, changes), ...usedExports(change, changes)]);
}

/**
 * Findings for removed indexes that a function still reads, in the deployed or in the new template. DynamoDB deletes
 * the index before CloudFormation updates the functions that refer to its table.
 */
function droppedIndexes(change: StackChange, changes: readonly StackChange[]): Finding[] {
  return resourceChanges(change).flatMap((table) => {
    const names = indexNames(table.synthesized);
    const dropped = indexNames(table.deployed).filter((name) => !names.includes(name));
    return dropped.flatMap((indexName) => {
      const readersByStack = changes.flatMap(({ stack, deployed, synthesized }) =>
        [deployed, synthesized].flatMap((template) => {
          const refersToTable = referenceTo(table.logicalId, stack === change.stack ? undefined : change.deployed);
          return functionsWithIndex(template, indexName, refersToTable).map((reader) => `${stack}/${reader}`);
        }),
      );
      const readers = [...new Set(readersByStack)];
      if (readers.length === 0) return [];
      const text =
        `index ${indexName} would be deleted while ${readers.join(' and ')} still ${readers.length === 1 ? 'reads' : 'read'} it: ` +
        'queries fail as soon as DynamoDB begins to delete the index. First deploy the readers without the index, and then the table ' +
        `without it.${readGuide('index-resharding', 'what-cannot-change')}`;
      return [finding(table, 'Deployment.indexInUse', 'failing', 'split', text)];
    });
  });
}

/**
 * Returns a function that checks whether a value refers to a resource. If the resource is in another stack, `other` is
 * the template of that stack, and values refer to the resource through an export.
 */
function referenceTo(logicalId: string, other: Template | undefined): (value: unknown) => boolean {
  if (other === undefined) return (value) => refersTo(value, logicalId);
  const exported = exportsOf(other).filter(([, value]) => refersTo(value, logicalId));
  return (value) => exported.some(([name]) => imports(value, name));
}

/**
 * The logical ids of functions that read an index: an environment variable contains the name of the index and refers
 * to its table.
 */
function functionsWithIndex(
  template: Template | undefined,
  indexName: string,
  refersToTable: (value: unknown) => boolean,
): string[] {
  return Object.entries(template?.Resources ?? {}).flatMap(([logicalId, resource]) => {
    const hasIndex = Object.values(environmentOf(resource)).some(
      (value) => refersToTable(value) && JSON.stringify(value).includes(`\\"indexName\\":\\"${indexName}\\"`),
    );
    return hasIndex ? [logicalId] : [];
  });
}

/**
 * Findings for changed or deleted exports. CloudFormation rejects the change or the deletion of an export while a
 * deployed stack imports it.
 */
function usedExports(change: StackChange, changes: readonly StackChange[]): Finding[] {
  const { stack, deployed, synthesized } = change;
  if (deployed === undefined) return [];
  const next = new Map(exportsOf(synthesized));
  const replaced = [...replacements(change).keys()];
  return exportsOf(deployed).flatMap(([name, value]) => {
    const isSame = JSON.stringify(next.get(name)) === JSON.stringify(value);
    if (isSame && !replaced.some((logicalId) => refersTo(value, logicalId))) return [];
    const users = changes.filter((other) => other.stack !== stack && imports(other.deployed, name));
    if (users.length === 0) return [];
    const text =
      `the export ${name} would ${next.has(name) ? 'change' : 'be deleted'} while ${users.map((user) => user.stack).join(' and ')} imports it, which ` +
      'CloudFormation rejects. First deploy the importing stacks without the import. In the meantime, keep the export with `exportValue` of its stack.';
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

/** The resource to which an exported value refers. */
function resourceOf(template: Template, value: unknown): string | undefined {
  return Object.keys(template.Resources ?? {}).find(
    (logicalId) => ownResource(template, logicalId) !== undefined && refersTo(value, logicalId),
  );
}
