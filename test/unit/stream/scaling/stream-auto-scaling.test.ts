import { App, Stack } from 'aws-cdk-lib';
import { Match, Template } from 'aws-cdk-lib/assertions';
import { UniformStream } from '../../../../lib';
import { readableTemplate } from '../../../support/readable-template';

describe('StreamAutoScaling', () => {
  let stack: Stack;
  let stream: UniformStream;
  beforeEach(() => {
    stack = new Stack(new App(), 'EvenShards');
    stream = new UniformStream(stack, 'Events', { shardCount: 4 });
  });

  test.each([
    [undefined, 70, 80.5, 28],
    [50, 50, 67.5, 20],
    [100, 100, 100, 40],
    [33, 33, 56.5, 13.2],
  ])(
    'with a target of %s, adds shards above %d %% or %d %% in three of six minutes, and removes shards below %d %% for half an hour',
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

  test('has the template of the snapshot', () => {
    stream.autoScaleShardCount({ minCapacity: 2, maxCapacity: 32 });

    expect(readableTemplate(Template.fromStack(stack))).toMatchSnapshot();
  });
});
