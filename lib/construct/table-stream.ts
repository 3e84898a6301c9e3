import { ArnFormat, Stack, Token } from 'aws-cdk-lib';
import * as dynamodb from 'aws-cdk-lib/aws-dynamodb';
import type { IConstruct } from 'constructs';
import { InvalidArgumentError } from '../core/kernel/errors';
import { checkOwnEnvironment, constructField } from './props';
import { checkAtSynthesis } from './synthesis-check';

/**
 * Returns the ARN of the stream of a table that a function reads. The table must be in the account and region of the
 * construct, because an event source mapping reads only such streams.
 *
 * The ARN of the stream of a `TableV2` is always defined, even if the table has no stream. So synthesis checks the
 * template: a replica that is added later turns on the stream.
 *
 * @throws InvalidArgumentError with the code `INVALID_ARGUMENT` if the table is in another account or region, or if the
 *   stream of the table is off
 */
export function requireTableStream(owner: IConstruct, table: dynamodb.ITable): string {
  if (table.tableStreamArn === undefined) throw streamIsOff(owner, table);
  // An imported table has the environment of its stack, so the ARN of the stream is checked, too.
  checkStreamOfTable(owner, table, table.tableStreamArn);
  const ofArn = Stack.of(owner).splitArn(table.tableStreamArn, ArnFormat.SLASH_RESOURCE_NAME);
  for (const env of [table.env, { account: ofArn.account!, region: ofArn.region! }]) {
    checkOwnEnvironment(owner, 'table', 'a table', { env });
  }
  checkAtSynthesis(owner, () => checkStreamIsOn(owner, table));
  return table.tableStreamArn;
}

/** The name and the ARN of an imported table can belong to different tables. */
function checkStreamOfTable(owner: IConstruct, { tableName }: dynamodb.ITable, streamArn: string): void {
  if (Token.isUnresolved(streamArn)) return;
  const [, ofStream] = /^arn:[^:]+:dynamodb:[^:]*:[^:]*:table\/([^/]+)\/stream\/./.exec(streamArn) ?? [];
  if (ofStream !== undefined && (Token.isUnresolved(tableName) || tableName === ofStream)) return;
  const allowed = Token.isUnresolved(tableName)
    ? 'the ARN of the stream of a table'
    : `the ARN of the stream of table ${tableName}`;
  throw new InvalidArgumentError(constructField(owner, 'table.tableStreamArn'), streamArn, allowed);
}

function checkStreamIsOn(owner: IConstruct, table: dynamodb.ITable): void {
  const resource = table.node.defaultChild;
  if (!(resource instanceof dynamodb.CfnGlobalTable)) return;
  if (Stack.of(resource).resolve(resource.streamSpecification) === undefined) throw streamIsOff(owner, table);
}

function streamIsOff(owner: IConstruct, table: dynamodb.ITable): InvalidArgumentError {
  return new InvalidArgumentError(constructField(owner, 'table'), table.node.path, 'a table whose stream is on');
}
