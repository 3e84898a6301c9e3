import { App, Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { AttributeType, TableV2 } from 'aws-cdk-lib/aws-dynamodb';
import * as kinesis from 'aws-cdk-lib/aws-kinesis';
import { HashKeyRegistry, OrderedProducerFunction } from '../../../lib';

test('synthesis reports all problems, not only the first', () => {
  const stack = new Stack(new App(), 'EvenShards');
  const stream = new kinesis.Stream(stack, 'Events');
  const hashKeyRegistry = new HashKeyRegistry(stack, 'Registry', { stream });
  const producer = new OrderedProducerFunction(stack, 'Producer', { stream, hashKeyRegistry });
  const table = new TableV2(stack, 'Jobs', { partitionKey: { name: 'jobId', type: AttributeType.STRING } });
  producer.addTableStream({ table });
  (stream.node.defaultChild as kinesis.CfnStream).addPropertyOverride('RecordDistributionStrategy', 'AUTO');

  const problems = messageOf(() => Template.fromStack(stack));
  expect(problems).toContain('EvenShards/Registry: stream.recordDistributionStrategy must be');
  expect(problems).toContain('EvenShards/Producer: stream.recordDistributionStrategy must be');
  expect(problems).toContain('EvenShards/Producer: table must be a table whose stream is on');
});

function messageOf(act: () => unknown): string {
  try {
    act();
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error('nothing was thrown');
}
