import { App, Duration } from 'aws-cdk-lib';
import type { CfnAlarm } from 'aws-cdk-lib/aws-cloudwatch';
import { RelayStack } from '../../support/stacks/relay-stack';

describe('ShardMonitoring.addOutbox', () => {
  let stack: RelayStack;
  beforeEach(() => {
    stack = new RelayStack(new App());
  });

  test('accepts another maximum lag, and can omit the alarm for the lag', () => {
    const { lag } = stack.monitoring.addOutbox(stack.relay, { maxLag: Duration.minutes(1) });
    expect(stack.resolve((lag!.node.defaultChild as CfnAlarm).threshold)).toBe(60);

    const silent = new RelayStack(new App());
    const alarms = silent.monitoring.addOutbox(silent.relay, { lagAlarm: false });
    expect(Object.keys(alarms)).toEqual(['failures', 'missingRows', 'refusals']);
  });
});
