import { App, Stack } from 'aws-cdk-lib';
import { Match, Template } from 'aws-cdk-lib/assertions';
import * as kinesis from 'aws-cdk-lib/aws-kinesis';
import { StreamAutoScaling, UniformStream } from '../../../../lib';
import { readableTemplate } from '../../../support/readable-template';

describe('StreamAutoScaling', () => {
  let stack: Stack;
  let stream: UniformStream;
  beforeEach(() => {
    stack = new Stack(new App(), 'EvenShards');
    stream = new UniformStream(stack, 'Events', { shardCount: 4 });
  });

  test('runs every minute, with its bounds and alarms', () => {
    const scaling = stream.autoScaleShardCount({ minCapacity: 2, maxCapacity: 32 });

    const template = Template.fromStack(stack);
    template.hasResourceProperties('AWS::Lambda::Function', {
      Environment: {
        Variables: {
          EVEN_SHARDS_STREAM_NAME: stack.resolve(stream.streamName),
          EVEN_SHARDS_MIN_SHARDS: '2',
          EVEN_SHARDS_MAX_SHARDS: '32',
          EVEN_SHARDS_SURGE_ALARM: stack.resolve(scaling.surgeAlarm.alarmName),
          EVEN_SHARDS_SCALE_OUT_ALARM: stack.resolve(scaling.scaleOutAlarm.alarmName),
          EVEN_SHARDS_SCALE_IN_ALARM: stack.resolve(scaling.scaleInAlarm.alarmName),
        },
      },
    });
    template.hasResourceProperties('AWS::Events::Rule', { ScheduleExpression: 'rate(1 minute)' });
  });

  test('may scale exactly this stream, ask exactly its alarms, and do nothing else', () => {
    const scaling = stream.autoScaleShardCount({ minCapacity: 2, maxCapacity: 32 });

    const template = Template.fromStack(stack);
    template.resourceCountIs('AWS::IAM::Policy', 1);
    template.hasResourceProperties('AWS::IAM::Policy', {
      PolicyDocument: Match.objectEquals({
        Version: '2012-10-17',
        Statement: [
          Match.objectLike({ Action: ['logs:CreateLogStream', 'logs:PutLogEvents'] }),
          {
            Effect: 'Allow',
            Action: [
              'kinesis:DescribeStreamSummary',
              'kinesis:ListTagsForStream',
              'kinesis:AddTagsToStream',
              'kinesis:UpdateShardCount',
            ],
            Resource: stack.resolve(stream.streamArn),
          },
          {
            Effect: 'Allow',
            Action: 'cloudwatch:DescribeAlarms',
            Resource: [scaling.surgeAlarm, scaling.scaleOutAlarm, scaling.scaleInAlarm].map(({ alarmArn }) =>
              stack.resolve(alarmArn),
            ),
          },
        ],
      }),
    });
  });

  test.each([
    [undefined, 70, 80.5, 28],
    [50, 50, 67.5, 20],
    [100, 100, 100, 40],
    [33, 33, 56.5, 13.2],
  ])(
    'with a target of %s is alarmed above %d and %d %% for three of six minutes, and below %d %% for half an hour',
    (target, high, surge, low) => {
      stream.autoScaleShardCount({ minCapacity: 2, maxCapacity: 32, targetUtilizationPercent: target });

      const template = Template.fromStack(stack);
      for (const Threshold of [high, surge]) {
        template.hasResourceProperties('AWS::CloudWatch::Alarm', {
          ComparisonOperator: 'GreaterThanThreshold',
          Threshold,
          EvaluationPeriods: 6,
          DatapointsToAlarm: 3,
          TreatMissingData: 'notBreaching',
          Metrics: Match.arrayWith([Match.objectLike({ MetricStat: Match.objectLike({ Period: 60 }) })]),
        });
      }
      template.hasResourceProperties('AWS::CloudWatch::Alarm', {
        ComparisonOperator: 'LessThanThreshold',
        Threshold: low,
        EvaluationPeriods: 6,
        TreatMissingData: 'notBreaching',
        Metrics: Match.arrayWith([Match.objectLike({ MetricStat: Match.objectLike({ Period: 300 }) })]),
      });
    },
  );

  test('measures the larger of bytes and records against the shards there are', () => {
    stream.autoScaleShardCount({ minCapacity: 2, maxCapacity: 32 });

    const template = Template.fromStack(stack);
    const [alarm] = Object.values(
      template.findResources('AWS::CloudWatch::Alarm', {
        Properties: { ComparisonOperator: 'GreaterThanThreshold' },
      }),
    );
    const metrics: { Id: string; Expression?: string; MetricStat?: object }[] = alarm!.Properties.Metrics;
    const named = Object.fromEntries(metrics.map(({ Id, Expression, MetricStat }) => [Id, Expression ?? MetricStat]));
    const metricOf = (Namespace: string, MetricName: string, Stat: string) => ({
      Metric: {
        Namespace,
        MetricName,
        Dimensions: [{ Name: 'StreamName', Value: stack.resolve(stream.streamName) }],
      },
      Period: 60,
      Stat,
    });
    expect(named).toEqual({
      expr_1: '100 * MAX([byBytes, byRecords, byNobody]) / PERIOD(shards) / FILL(shards, REPEAT)',
      byBytes: 'FILL(bytes, 0) / 1000000',
      byRecords: 'FILL(records, 0) / 1000',
      byNobody: '0 * FILL(shards, REPEAT)',
      bytes: metricOf('AWS/Kinesis', 'IncomingBytes', 'Sum'),
      records: metricOf('AWS/Kinesis', 'IncomingRecords', 'Sum'),
      shards: metricOf('EvenShards', 'OpenShards', 'Average'),
    });
  });

  test('has metrics of the stream', () => {
    const scaling = stream.autoScaleShardCount({ minCapacity: 2, maxCapacity: 32 });

    expect([scaling.metricOpenShards(), scaling.metricShardCountUpdatesLeft()]).toMatchObject([
      { namespace: 'EvenShards', metricName: 'OpenShards', statistic: 'Average' },
      { namespace: 'EvenShards', metricName: 'ShardCountUpdatesLeft', statistic: 'Minimum' },
    ]);
  });

  test('fails for an on-demand stream, which scales by itself', () => {
    const onDemand = new kinesis.Stream(stack, 'OnDemand', { streamMode: kinesis.StreamMode.ON_DEMAND });

    expect(() => new StreamAutoScaling(stack, 'A', { stream: onDemand, minCapacity: 1, maxCapacity: 2 })).toThrow(
      /A: stream.streamMode must be PROVISIONED/,
    );
  });

  test.each<[string, (id: string) => UniformStream]>([
    ['is scaled already', (id) => scaled(new UniformStream(stack, id, { shardCount: 4 }))],
    ['has a deployedShardCount', (id) => new UniformStream(stack, id, { shardCount: 8, deployedShardCount: 4 })],
    ['is reconciled', (id) => reconciled(new UniformStream(stack, id, { shardCount: 4 }))],
  ])('fails for a stream that %s', (_, construct) => {
    const other = construct('Other');

    expect(() => other.autoScaleShardCount({ minCapacity: 1, maxCapacity: 32 })).toThrow(
      /AutoScaling: stream must be a stream whose shard count is not decided elsewhere|There is already a Construct/,
    );
  });

  test('alone, is this template', () => {
    stream.autoScaleShardCount({ minCapacity: 2, maxCapacity: 32 });

    expect(readableTemplate(Template.fromStack(stack))).toMatchSnapshot();
  });
});

function scaled(stream: UniformStream): UniformStream {
  stream.autoScaleShardCount({ minCapacity: 1, maxCapacity: 8 });
  return stream;
}

function reconciled(stream: UniformStream): UniformStream {
  stream.addReconciliation();
  return stream;
}
