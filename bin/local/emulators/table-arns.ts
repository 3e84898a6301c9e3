import type { JsonItem } from '../json-item';
import { tableName } from '../limits/table-shapes';
import type { ServiceAnswer } from './gated-service';

const BY_TABLE = ['Responses', 'UnprocessedItems', 'UnprocessedKeys'];

/**
 * Replaces the ARNs of tables by their names, because dynalite accepts only names. A batch returns the ARNs of its request.
 */
export async function withTableNames(
  input: JsonItem,
  run: (input: JsonItem) => Promise<ServiceAnswer>,
): Promise<ServiceAnswer> {
  const given = [input.TableName, ...Object.keys(Object(input.RequestItems)), ...actionsOf(input).map(tableOf)];
  const arns = new Map(given.filter(isArn).map((arn) => [tableName(arn), arn]));
  if (arns.size === 0) return run(input);
  const answer = await run(named(input));
  const restored = BY_TABLE.filter(
    (field) => answer.output[field] !== undefined && !Array.isArray(answer.output[field]),
  );
  const fields = restored.map((field) => [field, renamed(answer.output[field], (name) => arns.get(name) ?? name)]);
  return { ...answer, output: { ...answer.output, ...Object.fromEntries(fields) } };
}

function named({ TableName, RequestItems, TransactItems, ...input }: JsonItem): JsonItem {
  return {
    ...input,
    ...(TableName !== undefined && { TableName: tableName(TableName) }),
    ...(RequestItems !== undefined && { RequestItems: renamed(RequestItems, tableName) }),
    ...(TransactItems !== undefined && {
      TransactItems: actionsOf({ TransactItems }).map((action) =>
        Object.fromEntries(Object.entries(action).map(([kind, each]) => [kind, named(Object(each))])),
      ),
    }),
  };
}

function actionsOf({ TransactItems }: JsonItem): JsonItem[] {
  return Array.isArray(TransactItems) ? TransactItems.map(Object) : [];
}

function tableOf(action: JsonItem): unknown {
  return Object.values(action)[0]?.TableName;
}

function isArn(name: unknown): name is string {
  return typeof name === 'string' && name.startsWith('arn:');
}

function renamed(byTable: JsonItem, rename: (name: string) => string): JsonItem {
  return Object.fromEntries(Object.entries(byTable).map(([name, value]) => [rename(name), value]));
}
