import { App, Duration, Stack } from 'aws-cdk-lib';
import { Match, Template } from 'aws-cdk-lib/assertions';
import { type Alarm, type CfnAlarm, type IAlarmAction, Metric } from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import { AttributeType } from 'aws-cdk-lib/aws-dynamodb';
import * as kinesis from 'aws-cdk-lib/aws-kinesis';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { Queue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import {
  OrderedProducerFunction,
  OrderedStreamConsumer,
  ShardCounts,
  type ShardedIndex,
  ShardedTable,
  ShardMonitoring,
  type ShardMonitoringProps,
  StreamConsumerMetrics,
  UniformStream,
} from '../../../lib';
import { plainFunction, warningsOf } from '../../support/minimal-constructs';
import { dashboardBody, type Widget } from '../../support/readable-template';
import { CachedStack } from '../../support/stacks/cached-stack';
import { ControlledStack } from '../../support/stacks/controlled-stack';
import { RelayStack } from '../../support/stacks/relay-stack';
import { WatchedStack } from '../../support/stacks/watched-stack';
import { monitoringReport } from './monitoring-report';

/** The widgets of the only dashboard. */
function widgets(stack: Stack): Widget[] {
  const [dashboard] = Object.values(Template.fromStack(stack).findResources('AWS::CloudWatch::Dashboard'));
  return dashboardBody(dashboard!.Properties.DashboardBody).widgets;
}

const titles = (stack: Stack) => widgets(stack).map(({ properties }) => properties.title ?? properties.markdown);

function orderedConsumer(stack: Stack, stream: UniformStream): OrderedStreamConsumer {
  const handler = plainFunction(stack);
  const startingPosition = lambda.StartingPosition.TRIM_HORIZON;
  return new OrderedStreamConsumer(stack, 'Consumer', { handler, stream, startingPosition, consumerName: 'orders' });
}

describe('ShardMonitoring', () => {
  let stack: Stack;
  let stream: UniformStream;
  let index: ShardedIndex;
  beforeEach(() => {
    stack = new Stack(new App(), 'EvenShards');
    stream = new UniformStream(stack, 'Events', { shardCount: 4 });
    const table = new ShardedTable(stack, 'Jobs', { partitionKey: { name: 'jobId', type: AttributeType.STRING } });
    index = table.addShardedIndex({
      indexName: 'byStatus',
      valueAttribute: { name: 'status', type: AttributeType.STRING },
      shardCounts: ShardCounts.uniform(8),
    });
  });

  describe('of a stream', () => {
    test('switches shard-level metrics on, unless the stream already has shard-level metrics or shardLevelMetrics is false', () => {
      const monitoring = new ShardMonitoring(stack, 'Monitoring');
      monitoring.addStream(stream);
      const chosen = [kinesis.ShardLevelMetrics.ALL];
      monitoring.addStream(new UniformStream(stack, 'Chosen', { shardCount: 1, shardLevelMetrics: chosen }));
      monitoring.addStream(new UniformStream(stack, 'Off', { shardCount: 2 }), { shardLevelMetrics: false });

      const template = Template.fromStack(stack);
      const expectMetrics = (ShardCount: number, DesiredShardLevelMetrics: unknown) =>
        template.hasResourceProperties('AWS::Kinesis::Stream', { ShardCount, DesiredShardLevelMetrics });
      expectMetrics(4, ['IncomingBytes', 'IncomingRecords', 'WriteProvisionedThroughputExceeded']);
      expectMetrics(1, ['ALL']);
      expectMetrics(2, Match.absent());
    });

    test('has a delay alarm for each consumer, and no silence alarm if silenceAlarm is false', () => {
      const monitoring = new ShardMonitoring(stack, 'Monitoring');
      const audit = StreamConsumerMetrics.fromEnhancedFanOut(stream, 'audit');
      monitoring.addConsumer(stream, audit, { silenceAlarm: false, maxIteratorAge: Duration.minutes(1) });
      const lag = new Metric({ namespace: 'my-app', metricName: 'MillisBehindLatest' });
      monitoring.addConsumer(stream, StreamConsumerMetrics.fromMetric('my-app', lag));

      expect(titles(stack)).toEqual(
        expect.arrayContaining(['## Consumer audit', '## Consumer my-app', 'Whether it reads']),
      );
      const template = Template.fromStack(stack);
      template.resourceCountIs('AWS::CloudWatch::Alarm', 2);
      template.hasResourceProperties('AWS::CloudWatch::Alarm', {
        MetricName: 'SubscribeToShardEvent.MillisBehindLatest',
        Dimensions: Match.arrayWith([{ Name: 'ConsumerName', Value: 'audit' }]),
        Statistic: 'Maximum',
        Threshold: 60_000,
      });
    });

    test('has alarms for the parked keys of an ordered consumer and a graph of the causes of its delay', () => {
      const consumer = orderedConsumer(stack, stream);
      const monitoring = new ShardMonitoring(stack, 'Monitoring');
      const alarms = monitoring.addConsumer(stream, StreamConsumerMetrics.fromOrderedConsumer(consumer), {
        maxParkedTime: Duration.minutes(20),
      });
      expect(Object.keys(alarms)).toEqual(['behind', 'deadKeys', 'parked']);
      expect(titles(stack)).toEqual(
        expect.arrayContaining(['## Consumer orders', 'Why it is slow, in percent', 'Parked keys']),
      );
      const template = Template.fromStack(stack);
      const Dimensions = [{ Name: 'ConsumerName', Value: 'orders' }];
      template.hasResourceProperties('AWS::CloudWatch::Alarm', { MetricName: 'DeadKeys', Dimensions, Threshold: 0 });
      template.hasResourceProperties('AWS::CloudWatch::Alarm', {
        Metrics: Match.arrayWith([
          Match.objectLike({
            MetricStat: Match.objectLike({ Metric: Match.objectLike({ MetricName: 'ParkedSeconds', Dimensions }) }),
          }),
        ]),
        Threshold: 1_200,
        TreatMissingData: 'ignore',
      });
    });

    test('has the alarms of an imported ordered consumer', () => {
      const imported = OrderedStreamConsumer.fromOrderedStreamConsumerAttributes(stack, 'Theirs', {
        consumerName: 'theirs',
        functionArn: `arn:aws:lambda:${stack.region}:${stack.account}:function:theirs`,
        parkingTableArn: `arn:aws:dynamodb:${stack.region}:${stack.account}:table/parked`,
      });
      const monitoring = new ShardMonitoring(stack, 'Monitoring');
      const alarms = monitoring.addConsumer(stream, StreamConsumerMetrics.fromOrderedConsumer(imported));
      expect(Object.keys(alarms)).toEqual(['behind', 'deadKeys', 'parked']);
    });

    describe('in another stack or imported', () => {
      const warning = 'cdk-even-shards:ShardMonitoring.noShardLevelMetrics';
      const metricsWarningsOf = (watching: Stack) => warningsOf(watching).filter((text) => text.includes(warning));
      const shardLevelMetricsOf = (owner: Stack) => {
        const [resource] = Object.values(Template.fromStack(owner).findResources('AWS::Kinesis::Stream'));
        return resource!.Properties.DesiredShardLevelMetrics;
      };
      let watching: Stack;
      beforeEach(() => {
        watching = new Stack(stack.node.root as App, 'Watching');
      });

      test('in another stack, the stream stays unchanged, and a warning names the option and its price', () => {
        new ShardMonitoring(watching, 'Monitoring').addStream(stream);

        expect(shardLevelMetricsOf(stack)).toBeUndefined();
        expect(metricsWarningsOf(watching)).toEqual([
          'the dashboard cannot show a hot shard of EvenShards/Events, because shard-level metrics of a stream of ' +
            'another stack are not enabled automatically: set shardLevelMetrics: true in addStream. CloudWatch charges ' +
            `$0.30 a month in US East for each of the three metrics of each shard [ack: ${warning}]`,
        ]);
      });

      test('in another stack, shardLevelMetrics: true switches the metrics on, without a warning', () => {
        new ShardMonitoring(watching, 'Monitoring').addStream(stream, { shardLevelMetrics: true });

        expect(shardLevelMetricsOf(stack)).toHaveLength(3);
        expect(metricsWarningsOf(watching)).toEqual([]);
      });

      test('in another stack, there is no warning if the stream has metrics or shardLevelMetrics is false', () => {
        const shardLevelMetrics = [kinesis.ShardLevelMetrics.INCOMING_BYTES];
        const monitoring = new ShardMonitoring(watching, 'Monitoring');
        monitoring.addStream(
          new UniformStream(new Stack(stack, 'Own'), 'Chosen', { shardCount: 1, shardLevelMetrics }),
        );
        monitoring.addStream(stream, { shardLevelMetrics: false });

        expect(shardLevelMetricsOf(stack)).toBeUndefined();
        expect(metricsWarningsOf(watching)).toEqual([]);
      });

      test.each([undefined, true])(
        'for an imported stream, a warning says where to switch the metrics on: shardLevelMetrics %s',
        (shardLevelMetrics) => {
          const streamArn = 'arn:aws:kinesis:eu-west-1:111111111111:stream/events';
          const imported = kinesis.Stream.fromStreamArn(stack, 'Imported', streamArn);
          new ShardMonitoring(stack, 'Monitoring').addStream(imported, { shardLevelMetrics });

          expect(titles(stack)).toContain('## Stream events');
          expect(metricsWarningsOf(stack)).toEqual([
            expect.stringContaining(
              'set shardLevelMetrics [IncomingBytes, IncomingRecords, WriteProvisionedThroughputExceeded] where the stream is ' +
                'defined, and shardLevelMetrics: false in addStream',
            ),
          ]);
        },
      );
    });
  });

  describe('with options that switch parts off', () => {
    test('has neither a dashboard nor alarms', () => {
      const monitoring = new ShardMonitoring(stack, 'Monitoring', { dashboard: false, alarms: false });
      monitoring.addStream(stream);
      monitoring.addIndex(index);

      expect(monitoring.dashboard).toBeUndefined();
      expect(monitoring.alarms).toEqual([]);
      Template.fromStack(stack).resourceCountIs('AWS::CloudWatch::Dashboard', 0);
      Template.fromStack(stack).resourceCountIs('AWS::CloudWatch::Alarm', 0);
    });

    test('omits the alarms whose options are false', () => {
      const monitoring = new ShardMonitoring(stack, 'Monitoring');
      monitoring.addStream(stream, { writeThrottleAlarm: false, iteratorAgeAlarm: false });
      monitoring.addIndex(index, { writeThrottleAlarm: false });

      expect(monitoring.alarms).toEqual([]);
      expect(titles(stack)).toContain('Bytes by shard');
      expect(titles(stack)).not.toContain('Alarms');
    });
  });

  test('returns its alarms, and uses the thresholds in the options', () => {
    const monitoring = new ShardMonitoring(stack, 'Monitoring');
    const other = new UniformStream(stack, 'Other', { shardCount: 4 });
    const producer = new OrderedProducerFunction(stack, 'Producer', { stream });
    const autoScaling = stream.autoScaleShardCount({ minCapacity: 2, maxCapacity: 8 });
    const returned = {
      stream: monitoring.addStream(stream, { autoScaling, maxWriteThrottles: 10, minUpdatesLeft: 3 }),
      other: monitoring.addStream(other, {
        reconciliation: other.addReconciliation(),
        maxSkew: 1.5,
        writeThrottleAlarm: false,
        iteratorAgeAlarm: false,
      }),
      consumer: monitoring.addConsumer(stream, StreamConsumerMetrics.fromPolling(stream)),
      index: monitoring.addIndex(index, { maxWriteThrottles: 20 }),
      producer: monitoring.addProducer(producer, { maxFailures: 30 }),
      queue: monitoring.addDeadLetterQueue(new Queue(stack, 'Dead'), { maxMessages: 40 }),
    };

    const thresholds = Object.fromEntries(
      Object.entries(returned).map(([row, alarms]) => [
        row,
        Object.fromEntries(
          Object.entries(alarms as Record<string, Alarm>).map(([name, alarm]) => [name, alarm.toAnnotation().value]),
        ),
      ]),
    );
    expect(thresholds).toEqual({
      stream: { writeThrottles: 10, iteratorAge: 3_600_000, scalingStopped: 0, noUpdatesLeft: 3, highLoadAtMaximum: 0 },
      other: { skew: 1.5, reconciliationFailures: 0, reconciliationStopped: 0 },
      consumer: { behind: 3_600_000 },
      index: { writeThrottles: 20 },
      producer: { failures: 30 },
      queue: { depth: 40 },
    });
    expect(Object.values(returned).flatMap((alarms) => Object.values(alarms as Record<string, Alarm>))).toEqual(
      monitoring.alarms,
    );
  });

  test('shows the alarms first, and each alarm has the given actions', () => {
    const topic = new Topic(stack, 'Topic');
    const monitoring = new ShardMonitoring(stack, 'Monitoring', {
      dashboardName: 'shards',
      alarmActions: [new SnsAction(topic)],
    });
    monitoring.addStream(stream);
    monitoring.addIndex(index);

    const template = Template.fromStack(stack);
    template.hasResourceProperties('AWS::CloudWatch::Dashboard', { DashboardName: 'shards' });
    template.allResourcesProperties('AWS::CloudWatch::Alarm', { AlarmActions: [stack.resolve(topic.topicArn)] });
    expect(monitoring.alarms).toHaveLength(3);
    expect(widgets(stack)[0]).toMatchObject({ type: 'alarm', properties: { alarms: ['<...>', '<...>', '<...>'] } });
  });

  describe('with actions by severity', () => {
    const actionsOf = (type: string) =>
      Object.fromEntries(
        Object.values(Template.fromStack(stack).findResources(type)).map(({ Properties }) => [
          Properties.AlarmName,
          { raised: Properties.AlarmActions ?? [], ended: Properties.OKActions ?? [] },
        ]),
      );
    const action = (alarmActionArn: string): IAlarmAction => ({ bind: () => ({ alarmActionArn }) });
    const [every, page, ticket, ended] = ['every', 'page', 'ticket', 'ended'].map(action) as [
      IAlarmAction,
      IAlarmAction,
      IAlarmAction,
      IAlarmAction,
    ];
    const watch = (props: ShardMonitoringProps) =>
      new ShardMonitoring(stack, 'Monitoring', { dashboard: false, ...props }).addStream(stream, {
        reconciliation: stream.addReconciliation(),
        iteratorAgeAlarm: false,
      });

    test('gives pages and tickets different actions and names', () => {
      watch({ alarmActions: [every], pageActions: [page], ticketActions: [ticket], okActions: [ended] });

      const calls = { raised: ['every', 'page'], ended: ['ended'] };
      const waits = { raised: ['every', 'ticket'], ended: ['ended'] };
      expect(actionsOf('AWS::CloudWatch::Alarm')).toEqual({
        'EvenShards-Monitoring-page-Events-writeThrottles': calls,
        'EvenShards-Monitoring-ticket-Events-reconciliationFailures': waits,
        'EvenShards-Monitoring-ticket-Events-reconciliationStopped': waits,
        'EvenShards-Monitoring-ticket-Events-skew': waits,
      });
    });

    test('calls an SNS action when an alarm begins and when the alarm ends, and another action only when the alarm begins', () => {
      const topic = new Topic(stack, 'Topic');
      watch({ alarmActions: [new SnsAction(topic), every] });

      const arn = stack.resolve(topic.topicArn);
      Template.fromStack(stack).allResourcesProperties('AWS::CloudWatch::Alarm', {
        AlarmActions: [arn, 'every'],
        OKActions: [arn],
      });
    });

    test('has one composite alarm for each resource, instead of several alarms with page actions', () => {
      const { composite, writeThrottles } = watch({
        pageActions: [page],
        ticketActions: [ticket],
        okActions: [ended],
        compositeAlarms: true,
      });

      expect(actionsOf('AWS::CloudWatch::CompositeAlarm')).toEqual({
        'EvenShards-Monitoring-page-Events': { raised: ['page'], ended: ['ended'] },
      });
      expect(stack.resolve(composite!.alarmName)).toEqual({ Ref: expect.stringMatching(/Composite/) });
      Template.fromStack(stack).hasResourceProperties('AWS::CloudWatch::CompositeAlarm', {
        AlarmRule: { 'Fn::Join': ['', ['(ALARM("', stack.resolve(writeThrottles!.alarmArn), '"))']] },
      });
      expect(actionsOf('AWS::CloudWatch::Alarm')).toMatchObject({
        'EvenShards-Monitoring-page-Events-writeThrottles': { raised: [], ended: [] },
        'EvenShards-Monitoring-ticket-Events-skew': { raised: ['ticket'], ended: ['ended'] },
      });
    });

    test('has alarm names of at most 255 characters, however long the construct path is', () => {
      let scope: Construct = new Stack(stack, 'S'.repeat(60));
      for (let depth = 0; depth < 5; depth++) scope = new Construct(scope, `Level${depth}${'x'.repeat(60)}`);
      const far = new UniformStream(scope, 'Far', { shardCount: 1 });
      const own = new Stack(new App(), 'M'.repeat(128));
      const { writeThrottles } = new ShardMonitoring(stack, 'Monitoring').addStream(far, { shardLevelMetrics: false });
      const { iteratorAge } = new ShardMonitoring(own, 'N'.repeat(200)).addStream(
        new UniformStream(own, 'It', { shardCount: 1 }),
      );

      const nameOf = (alarm: Alarm) => (alarm.node.defaultChild as CfnAlarm).alarmName!;
      expect([nameOf(writeThrottles!).length, nameOf(iteratorAge!).length].every((length) => length <= 255)).toBe(true);
    });
  });

  test.each([
    ['an index with a long name', 'Orders', 'i'.repeat(240)],
    ['long names of the stack and an index', 's'.repeat(128), 'byStatusAndCustomer'.repeat(5)],
  ])('has different alarm names of at most 255 characters, for %s', (_, stackName, indexName) => {
    const own = new Stack(stack.node.root as App, 'Own', { stackName });
    const partitionKey = { name: 'id', type: AttributeType.STRING };
    const table = new ShardedTable(own, 'OrdersByCustomerAndRegion', { partitionKey });
    const monitoring = new ShardMonitoring(own, 'Monitoring', { compositeAlarms: true });
    for (const last of ['a', 'b']) {
      const options = { shardAttribute: `shard-${last}`, shardCounts: ShardCounts.uniform(2) };
      monitoring.addIndex(table.addShardedIndex({ indexName: `${indexName}${last}`, ...options }));
    }

    const alarms = Template.fromStack(own).findResources('AWS::CloudWatch::Alarm');
    const names = Object.values(alarms).map(({ Properties }) => Properties.AlarmName as string);
    expect(new Set(names).size).toBe(Object.keys(alarms).length);
    expect(Math.max(...names.map((name) => name.length))).toBe(255);
  });

  test('rejects a resource whose graphs exceed the 500 widgets of a dashboard', () => {
    const monitoring = new ShardMonitoring(stack, 'Monitoring');
    const add = (id: number) => monitoring.addStream(new UniformStream(stack, `Stream${id}`, { shardCount: 2 }));
    for (let id = 0; id < 71; id += 1) add(id);
    expect(widgets(stack).length).toBeLessThanOrEqual(500);

    expect(() => {
      for (let id = 71; id < 80; id += 1) add(id);
    }).toThrow(/Monitoring: dashboard must be at most 500 widgets, so add some resources to another ShardMonitoring/);
  });

  test('accepts two streams with the same id in different stacks', () => {
    const monitoring = new ShardMonitoring(stack, 'Monitoring');
    monitoring.addStream(stream);
    monitoring.addStream(new UniformStream(new Stack(stack, 'Nested'), 'Events', { shardCount: 1, streamName: 'x' }));

    expect(monitoring.alarms).toHaveLength(4);
  });
});

describe('the alarms and graphs', () => {
  const app = new App();
  const relay = new RelayStack(app);
  relay.monitoring.addOutbox(relay.relay);

  test.each([
    ['streams, functions, an index and a queue', new WatchedStack(app)],
    ['an index whose counts are adaptive', new ControlledStack(app)],
    ['tables that are sharded by their own keys', new CachedStack(app)],
    ['an outbox', relay],
  ])('of %s are the same as in the snapshot', (_, stack) => {
    expect(monitoringReport(Template.fromStack(stack))).toMatchSnapshot();
  });
});
