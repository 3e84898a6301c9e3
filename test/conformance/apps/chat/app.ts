import '../../../support/oldest-cdk';
import { join } from 'node:path';
import { App, Duration, Stack } from 'aws-cdk-lib';
import { CfnApi, CfnIntegration, CfnRoute } from 'aws-cdk-lib/aws-apigatewayv2';
import { AttributeType, Table } from 'aws-cdk-lib/aws-dynamodb';
import { Code, Function as LambdaFunction, Runtime } from 'aws-cdk-lib/aws-lambda';

/** Has the same kinds of resources as `api-websocket-lambda-dynamodb` of aws-samples/aws-cdk-examples: functions from plain folders, a named table with provisioned throughput, and an API of L1 constructs. */
export function synthesize(): string {
  const app = new App();
  const stack = new Stack(app, 'Chat');
  const table = new Table(stack, 'connections', {
    tableName: 'connections',
    partitionKey: { name: 'connectionId', type: AttributeType.STRING },
    readCapacity: 5,
    writeCapacity: 5,
  });
  const api = new CfnApi(stack, 'api', {
    ...{ name: 'Chat', protocolType: 'WEBSOCKET', routeSelectionExpression: '$request.body.action' },
  });
  for (const route of ['connect', 'disconnect']) {
    const fn = new LambdaFunction(stack, route, {
      code: Code.fromAsset(join(__dirname, `on${route}`)),
      handler: `on${route}.handler`,
      runtime: Runtime.NODEJS_LATEST,
      timeout: Duration.seconds(300),
      memorySize: 256,
      environment: { TABLE_NAME: 'connections' },
    });
    table.grantReadWriteData(fn);
    const integrationUri = `arn:aws:apigateway:${stack.region}:lambda:path/2015-03-31/functions/${fn.functionArn}/invocations`;
    const integration = new CfnIntegration(stack, `${route}-integration`, {
      ...{ apiId: api.ref, integrationType: 'AWS_PROXY', integrationUri },
    });
    new CfnRoute(stack, `${route}-route`, {
      ...{ apiId: api.ref, routeKey: `$${route}`, target: `integrations/${integration.ref}` },
    });
  }
  return app.synth().directory;
}
