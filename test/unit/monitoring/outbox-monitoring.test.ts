import { App, Duration } from 'aws-cdk-lib';
import { Match, Template } from 'aws-cdk-lib/assertions';
import type { CfnAlarm } from 'aws-cdk-lib/aws-cloudwatch';
import { dashboardBody } from '../../support/readable-template';
import { RelayStack } from '../../support/stacks/relay-stack';

describe('ShardMonitoring of the relay of an outbox', () => {
  let stack: RelayStack;
  beforeEach(() => {
    stack = new RelayStack(new App());
  });

  test('draws what waits and for how long, what is relayed and what is rejected', () => {
    stack.monitoring.addOutbox(stack.relay);

    const [dashboard] = Object.values(Template.fromStack(stack).findResources('AWS::CloudWatch::Dashboard'));
    const { widgets } = dashboardBody(dashboard!.Properties.DashboardBody);
    expect(widgets.map(({ properties }) => properties.title ?? properties.markdown)).toEqual([
      'Alarms',
      '## Outbox relay <...>',
      'How long rows wait, in seconds',
      'Rows that wait',
      'Rows relayed',
    ]);
  });

  test('raises an alarm when rows wait for six minutes, or nothing says whether they do', () => {
    stack.monitoring.addOutbox(stack.relay);

    Template.fromStack(stack).hasResourceProperties('AWS::CloudWatch::Alarm', {
      Metrics: Match.arrayWith([
        Match.objectLike({ Expression: 'reported + IF(0 * FILL(heard, REPEAT) + 0 * due + heard < 1, 300, 0)' }),
        Match.objectLike({ MetricStat: Match.objectLike({ Stat: 'Maximum' }) }),
      ]),
      Threshold: 300,
      EvaluationPeriods: 9,
      DatapointsToAlarm: 6,
      TreatMissingData: 'ignore',
    });
  });

  test('raises an alarm when a row is rejected or the function fails', () => {
    stack.monitoring.addOutbox(stack.relay);

    Template.fromStack(stack).hasResourceProperties('AWS::CloudWatch::Alarm', {
      Threshold: 0,
      ComparisonOperator: 'GreaterThanThreshold',
      TreatMissingData: 'notBreaching',
      Metrics: Match.arrayWith([
        Match.objectLike({ Expression: 'SUM([failed, errors])' }),
        Match.objectLike({ MetricStat: { Metric: Match.objectLike({ MetricName: 'Rejections' }) } }),
        Match.objectLike({ MetricStat: { Metric: Match.objectLike({ MetricName: 'Errors' }) } }),
      ]),
    });
  });

  test('raises an alarm when a row is missing', () => {
    const { missingRows } = stack.monitoring.addOutbox(stack.relay);

    expect(missingRows).toBeDefined();
    Template.fromStack(stack).hasResourceProperties('AWS::CloudWatch::Alarm', {
      Namespace: 'EvenShards',
      MetricName: 'MissingRows',
      Statistic: 'Maximum',
      Threshold: 0,
      ComparisonOperator: 'GreaterThanThreshold',
      TreatMissingData: 'notBreaching',
    });
  });

  test('raises an alarm when the relay refuses to run', () => {
    const { refusals } = stack.monitoring.addOutbox(stack.relay);

    expect(refusals).toBeDefined();
    Template.fromStack(stack).hasResourceProperties('AWS::CloudWatch::Alarm', {
      Namespace: 'EvenShards',
      MetricName: 'Refusals',
      Statistic: 'Sum',
      Threshold: 0,
      ComparisonOperator: 'GreaterThanThreshold',
      TreatMissingData: 'notBreaching',
    });
  });

  test('takes another maximum lag, and can omit the alarm of the lag', () => {
    const { lag } = stack.monitoring.addOutbox(stack.relay, { maxLag: Duration.minutes(1) });
    expect(stack.resolve((lag!.node.defaultChild as CfnAlarm).threshold)).toBe(60);

    const silent = new RelayStack(new App());
    const alarms = silent.monitoring.addOutbox(silent.relay, { lagAlarm: false });
    expect(Object.keys(alarms)).toEqual(['failures', 'missingRows', 'refusals']);
  });
});
