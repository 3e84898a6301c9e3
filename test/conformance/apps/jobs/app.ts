import '../../../support/oldest-cdk';
import { join } from 'node:path';
import { App, Stack } from 'aws-cdk-lib';
import { LambdaIntegration, RestApi } from 'aws-cdk-lib/aws-apigateway';
import { AttributeType, Table } from 'aws-cdk-lib/aws-dynamodb';
import { Code, Function as LambdaFunction, Runtime } from 'aws-cdk-lib/aws-lambda';
import { LogGroup, RetentionDays } from 'aws-cdk-lib/aws-logs';

/** Has the same kinds of resources as `api-gateway-async-lambda-invocation` of aws-samples/aws-cdk-examples: an API that asynchronously invokes a function of ES modules. */
export function synthesize(): string {
  const app = new App();
  const stack = new Stack(app, 'Jobs');
  const table = new Table(stack, 'table', {
    partitionKey: { name: 'jobId', type: AttributeType.STRING },
    tableName: 'job-table',
  });
  const fn = new LambdaFunction(stack, 'fn', {
    runtime: Runtime.NODEJS_24_X,
    handler: 'job-handler.handler',
    code: Code.fromAsset(join(__dirname, 'assets')),
    environment: { JOB_TABLE: table.tableName },
    logGroup: new LogGroup(stack, 'logs', { retention: RetentionDays.ONE_WEEK }),
  });
  table.grantWriteData(fn);
  const asynchronously = { 'integration.request.header.X-Amz-Invocation-Type': "'Event'" };
  const integration = new LambdaIntegration(fn, { proxy: false, requestParameters: asynchronously });
  new RestApi(stack, 'api').root.addResource('job').addMethod('POST', integration);
  return app.synth().directory;
}
