const { DynamoDBClient } = require('@aws-sdk/client-dynamodb');
const { DeleteCommand, DynamoDBDocumentClient } = require('@aws-sdk/lib-dynamodb');

const documents = DynamoDBDocumentClient.from(new DynamoDBClient({}));

exports.handler = async ({ requestContext: { connectionId } }) => {
  await documents.send(new DeleteCommand({ TableName: process.env.TABLE_NAME, Key: { connectionId } }));
  return { statusCode: 200, body: 'disconnected' };
};
