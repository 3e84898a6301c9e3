const { DynamoDBClient } = require('@aws-sdk/client-dynamodb');
const { DynamoDBDocumentClient, PutCommand } = require('@aws-sdk/lib-dynamodb');

const documents = DynamoDBDocumentClient.from(new DynamoDBClient({}));

exports.handler = async ({ requestContext: { connectionId } }) => {
  await documents.send(new PutCommand({ TableName: process.env.TABLE_NAME, Item: { connectionId } }));
  return { statusCode: 200, body: 'connected' };
};
