import { App, Duration, Stack } from 'aws-cdk-lib';
import { Match, Template } from 'aws-cdk-lib/assertions';
import * as events from 'aws-cdk-lib/aws-events';
import { UniformStream } from '../../../../lib';
import { readableTemplate } from '../../../support/readable-template';

describe('StreamReconciliation', () => {
  let stack: Stack;
  beforeEach(() => {
    stack = new Stack(new App(), 'EvenShards');
  });

  test('passes the repair setting and the schedule on to its function', () => {
    const stream = new UniformStream(stack, 'Events', { shardCount: 4 });
    stream.addReconciliation({ repair: true, schedule: events.Schedule.rate(Duration.days(1)) });

    Template.fromStack(stack).hasResourceProperties('AWS::Events::Rule', { ScheduleExpression: 'rate(1 day)' });
    Template.fromStack(stack).hasResourceProperties('AWS::Lambda::Function', {
      Environment: { Variables: Match.objectLike({ EVEN_SHARDS_REPAIR: 'true' }) },
      Timeout: 900,
    });
  });

  test('rejects repair: true for a stream with automatic scaling, and only reports drift of this stream without this option', () => {
    const stream = new UniformStream(stack, 'Events', { shardCount: 4 });
    stream.autoScaleShardCount({ minCapacity: 2, maxCapacity: 32 });

    expect(() => stream.addReconciliation({ repair: true })).toThrow(
      'EvenShards/Events: addReconciliation.repair must be false for a stream with automatic scaling (its shard count is ' +
        'not fixed, and each update makes the shards even), got true',
    );
    stream.addReconciliation();
    const Variables = Match.objectEquals({ EVEN_SHARDS_STREAM_NAME: Match.anyValue(), EVEN_SHARDS_REPAIR: 'false' });
    Template.fromStack(stack).hasResourceProperties('AWS::Lambda::Function', { Environment: { Variables } });
  });

  test('has the template of the snapshot', () => {
    new UniformStream(stack, 'Events', { shardCount: 4 }).addReconciliation({ repair: true });

    expect(readableTemplate(Template.fromStack(stack))).toMatchSnapshot();
  });
});
