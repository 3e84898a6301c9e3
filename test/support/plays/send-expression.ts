import type { DynamoDB } from '@aws-sdk/client-dynamodb';
import type { ExpressionRequest } from '../../../lib/core/aws-client/expression';

/**
 * Sends each expression in a request of its kind, and sends a condition also in a transaction. Returns the error
 * message if the service rejects a request.
 */
export async function sendExpression(
  dynamodb: DynamoDB,
  TableName: string,
  request: ExpressionRequest,
): Promise<string | undefined> {
  const Key = { id: { S: 'an item' } };
  await dynamodb.deleteItem({ TableName, Key });
  const send = async (): Promise<unknown> => {
    if (request.UpdateExpression !== undefined) return dynamodb.updateItem({ TableName, Key, ...request });
    if (request.FilterExpression !== undefined) return dynamodb.scan({ TableName, ...request });
    if (request.ProjectionExpression !== undefined) return dynamodb.getItem({ TableName, Key, ...request });
    await dynamodb.putItem({ TableName, Item: Key, ...request });
    return undefined;
  };
  const messageOf = async (call: () => Promise<unknown>): Promise<string | undefined> => {
    try {
      await call();
      return undefined;
    } catch (error) {
      return (error as Error).message;
    }
  };
  const message = await messageOf(send);
  const { ConditionExpression } = request;
  if (ConditionExpression === undefined) return message;
  const inTransaction = await messageOf(() =>
    dynamodb.transactWriteItems({
      TransactItems: [{ ConditionCheck: { TableName, Key, ...request, ConditionExpression } }],
    }),
  );
  return inTransaction === message ? message : `${message}; in a transaction: ${inTransaction}`;
}
