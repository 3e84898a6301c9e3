import '../../../support/oldest-cdk';
import { join } from 'node:path';
import { App, Stack } from 'aws-cdk-lib';
import { LambdaIntegration, RestApi } from 'aws-cdk-lib/aws-apigateway';
import { AttributeType, Table } from 'aws-cdk-lib/aws-dynamodb';
import { Runtime } from 'aws-cdk-lib/aws-lambda';
import { NodejsFunction } from 'aws-cdk-lib/aws-lambda-nodejs';

/** Has the same kinds of resources as `api-cors-lambda-crud-dynamodb` of aws-samples/aws-cdk-examples: a function for each operation on items. The functions use the SDK of the Lambda runtime. */
export function synthesize(): string {
  const app = new App();
  const stack = new Stack(app, 'Items');
  const table = new Table(stack, 'items', {
    partitionKey: { name: 'itemId', type: AttributeType.STRING },
    tableName: 'items',
  });
  const items = new RestApi(stack, 'itemsApi').root.addResource('items');
  for (const [operation, method] of [
    ['create', 'POST'],
    ['list', 'GET'],
  ] as const) {
    const fn = new NodejsFunction(stack, operation, {
      entry: join(__dirname, `${operation}.ts`),
      runtime: Runtime.NODEJS_24_X,
      environment: { PRIMARY_KEY: 'itemId', TABLE_NAME: table.tableName },
    });
    table.grantReadWriteData(fn);
    items.addMethod(method, new LambdaIntegration(fn));
  }
  return app.synth().directory;
}
