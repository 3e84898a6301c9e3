import { App, Duration, Stack } from 'aws-cdk-lib';
import { Match, Template } from 'aws-cdk-lib/assertions';
import { AttributeType, StreamViewType, Table, TableV2 } from 'aws-cdk-lib/aws-dynamodb';
import { FilterCriteria, FilterRule } from 'aws-cdk-lib/aws-lambda';
import { SqsDlq } from 'aws-cdk-lib/aws-lambda-event-sources';
import { Queue } from 'aws-cdk-lib/aws-sqs';
import { OrderedProducerFunction, type ProducerTableStreamOptions, ShardedTable, UniformStream } from '../../../../lib';

const partitionKey = { name: 'id', type: AttributeType.STRING };

describe('OrderedProducerFunction.addTableStream', () => {
  let stack: Stack;
  let producer: OrderedProducerFunction;
  beforeEach(() => {
    stack = new Stack(new App(), 'EvenShards');
    producer = new OrderedProducerFunction(stack, 'Producer', {
      stream: new UniformStream(stack, 'Events', { shardCount: 4 }),
    });
  });

  const tableWithStream = () =>
    new ShardedTable(stack, 'Table', { partitionKey, dynamoStream: StreamViewType.NEW_AND_OLD_IMAGES });

  function add(props: Partial<ProducerTableStreamOptions> = {}) {
    return producer.addTableStream({ table: props.table ?? tableWithStream(), ...props });
  }

  test('lets the function read the stream of the table from its oldest change, and report failed items', () => {
    const table = tableWithStream();
    add({ table });

    Template.fromStack(stack).hasResourceProperties('AWS::Lambda::EventSourceMapping', {
      EventSourceArn: stack.resolve(table.tableStreamArn),
      StartingPosition: 'TRIM_HORIZON',
      BatchSize: 100,
      FunctionResponseTypes: ['ReportBatchItemFailures'],
      BisectBatchOnFunctionError: Match.absent(),
      MaximumRetryAttempts: Match.absent(),
      MaximumRecordAgeInSeconds: Match.absent(),
      DestinationConfig: Match.absent(),
    });
  });

  test('rejects a FIFO queue as onFailure, because Lambda rejects it', () => {
    const onFailure = new SqsDlq(new Queue(stack, 'Failures', { fifo: true }));
    expect(() => add({ onFailure })).toThrow(/onFailure must be a destination that Lambda supports.*"a FIFO queue"/);
  });

  test('with onFailure, lets Lambda give up a change after 12 hours, which is half of the retention of the stream', () => {
    const queue = new Queue(stack, 'Failures');
    add({ onFailure: new SqsDlq(queue) });

    Template.fromStack(stack).hasResourceProperties('AWS::Lambda::EventSourceMapping', {
      MaximumRecordAgeInSeconds: 43_200,
      DestinationConfig: { OnFailure: { Destination: stack.resolve(queue.queueArn) } },
    });
  });

  describe('for a table without a stream', () => {
    const message = (table: string) =>
      `EvenShards/Producer: table must be a table whose stream is on, got "EvenShards/${table}"`;

    test('rejects a Table', () => {
      const table = new Table(stack, 'Off', { partitionKey });

      expect(() => add({ table })).toThrow(message('Off'));
    });

    test('rejects a TableV2 at synthesis', () => {
      add({ table: new TableV2(stack, 'Off', { partitionKey }) });

      expect(() => Template.fromStack(stack)).toThrow(message('Off'));
    });

    test('accepts a TableV2 with a replica, because a replica switches the stream on', () => {
      const here = new Stack(new App(), 'Here', { env: { account: '111111111111', region: 'eu-west-1' } });
      const stream = new UniformStream(here, 'Events', { shardCount: 4 });
      const table = new TableV2(here, 'Table', { partitionKey });
      new OrderedProducerFunction(here, 'Producer', { stream }).addTableStream({ table });
      table.addReplica({ region: 'eu-north-1' });

      expect(() => Template.fromStack(here)).not.toThrow();
    });
  });

  test('passes the filters, the batching window, the parallelization factor and the prop enabled on to the mapping', () => {
    const mapping = add({
      batchSize: 10_000,
      maxBatchingWindow: Duration.minutes(5),
      parallelizationFactor: 10,
      filters: [FilterCriteria.filter({ eventName: FilterRule.isEqual('INSERT') })],
      enabled: false,
    });

    Template.fromStack(stack).hasResourceProperties('AWS::Lambda::EventSourceMapping', {
      BatchSize: 10_000,
      MaximumBatchingWindowInSeconds: 300,
      ParallelizationFactor: 10,
      FilterCriteria: { Filters: [{ Pattern: '{"eventName":["INSERT"]}' }] },
      Enabled: false,
    });
    expect(stack.resolve(mapping.eventSourceMappingId)).toEqual({ Ref: expect.any(String) });
    expect(mapping.eventSourceMappingArn).toContain('event-source-mapping');
  });
});
