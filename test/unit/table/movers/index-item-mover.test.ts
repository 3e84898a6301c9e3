import { App, Duration } from 'aws-cdk-lib';
import { Match, Template } from 'aws-cdk-lib/assertions';
import { Schedule } from 'aws-cdk-lib/aws-events';
import { Bucket } from 'aws-cdk-lib/aws-s3';
import { STEPFUNCTIONS_USE_DISTRIBUTED_MAP_RESULT_WRITER_V2 } from 'aws-cdk-lib/cx-api';
import { warningsOf } from '../../../support/minimal-constructs';
import { definitionOf, reshardingStack } from '../../../support/stacks/resharding-stack';

test('the state machine is a Distributed Map over the segments of the table, and invokes the function for each segment until the segment is complete', () => {
  const { States, StartAt } = definitionOf(reshardingStack({ segments: 3 }).stack);
  expect(StartAt).toBe('ListSegments');
  expect(States.ListSegments).toMatchObject({ Type: 'Pass', Result: [0, 1, 2], Next: 'Segments' });
  expect(States.Segments).toMatchObject({
    Type: 'Map',
    MaxConcurrency: 3,
    ItemSelector: {
      'segment.$': '$$.Map.Item.Value',
      totalSegments: 3,
      'request.$': '$$.Execution.Input',
    },
    ItemProcessor: {
      ProcessorConfig: { Mode: 'DISTRIBUTED', ExecutionType: 'STANDARD' },
      StartAt: 'WorkOnSegment',
      States: {
        WorkOnSegment: {
          Type: 'Task',
          Next: 'IsTimeUp',
          Retry: [{ ErrorEquals: ['States.ALL'], MaxAttempts: 5, JitterStrategy: 'FULL' }],
        },
        IsTimeUp: {
          Choices: [{ Variable: '$.resumePoint', IsPresent: true, Next: 'WorkOnSegment' }],
          Default: 'SegmentIsComplete',
        },
        SegmentIsComplete: { Type: 'Succeed', OutputPath: '$.totals' },
      },
    },
    End: true,
  });
});

test('the environment of the function has the read budget and the write budget of the mover', () => {
  Template.fromStack(reshardingStack({ segments: 2 }).stack).hasResourceProperties('AWS::Lambda::Function', {
    Environment: {
      Variables: Match.objectLike({
        EVEN_SHARDS_READ_UNITS_PER_SECOND: '100',
        EVEN_SHARDS_WRITE_UNITS_PER_SECOND: '50',
        EVEN_SHARDS_SEGMENTS_AT_ONCE: '2',
      }),
    },
    Timeout: 900,
  });
});

test('the log contains no execution data, because a resume point contains a key of an item', () => {
  Template.fromStack(reshardingStack().stack).hasResourceProperties('AWS::StepFunctions::StateMachine', {
    LoggingConfiguration: { Level: 'ALL', IncludeExecutionData: false },
    TracingConfiguration: { Enabled: true },
  });
});

test('a schedule starts audits, which count strays and move no item', () => {
  const { stack } = reshardingStack({ auditSchedule: Schedule.rate(Duration.days(1)) });
  Template.fromStack(stack).hasResourceProperties('AWS::Events::Rule', {
    ScheduleExpression: 'rate(1 day)',
    Targets: [Match.objectLike({ Input: '{"mode":"audit"}' })],
  });
  expect(Template.fromStack(reshardingStack().stack).findResources('AWS::Events::Rule')).toEqual({});
});

// The newest CDK deprecates version 1 of the result writer. With JSII_DEPRECATED=fail, the use of a deprecated version
// is an error.
const writers = process.env.JSII_DEPRECATED === 'fail' ? [true] : [true, false];

test.each(writers)(
  'the state machine writes its reports to the bucket, with version 2 of the result writer: %s',
  (isSecond) => {
    const { stack } = reshardingStack(
      (scope) => ({ reportBucket: new Bucket(scope, 'Reports') }),
      new App({ context: { [STEPFUNCTIONS_USE_DISTRIBUTED_MAP_RESULT_WRITER_V2]: isSecond } }),
    );
    const { Segments } = definitionOf(stack).States;
    expect(Segments).toMatchObject({ ResultWriter: { Parameters: { Bucket: expect.anything() } } });
  },
);

test('synthesis gives no warning, so cdk synth --strict passes', () => {
  const { stack } = reshardingStack();
  expect(warningsOf(stack)).toEqual([]);
});
