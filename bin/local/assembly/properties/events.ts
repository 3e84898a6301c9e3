import type { PropertyTable } from './property-table';

export const RULE: PropertyTable = {
  honoured: ['ScheduleExpression', 'State', 'Targets.Arn', 'Targets.Input'],
  withoutEffect: {
    'only billing and access control use tags and roles': ['RoleArn', 'Tags', 'Targets.RoleArn'],
    'it only describes the rule or the target': ['Description', 'Name', 'Targets.Id'],
    'a schedule is always on the default event bus': ['EventBusName'],
    'a target other than a function is left out': [
      'Targets.AppSyncParameters',
      'Targets.BatchParameters',
      'Targets.EcsParameters',
      'Targets.HttpParameters',
      'Targets.KinesisParameters',
      'Targets.RedshiftDataParameters',
      'Targets.RunCommandParameters',
      'Targets.SageMakerPipelineParameters',
      'Targets.SqsParameters',
    ],
  },
  named: {
    'only the schedule invokes the function': ['EventPattern'],
    'the event of the function is {}': ['Targets.InputPath', 'Targets.InputTransformer'],
    'a failed invocation is not repeated': [
      'Targets.DeadLetterConfig',
      'Targets.RetryPolicy.MaximumEventAgeInSeconds',
      'Targets.RetryPolicy.MaximumRetryAttempts',
    ],
  },
  harmless: { 'Targets.RetryPolicy.MaximumRetryAttempts': 0 },
};
