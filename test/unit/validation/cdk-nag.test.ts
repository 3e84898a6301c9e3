import { App, Duration, Stack } from 'aws-cdk-lib';
import { Schedule } from 'aws-cdk-lib/aws-events';
import { Queue } from 'aws-cdk-lib/aws-sqs';
import type { PolicyViolation } from 'aws-cdk-lib-newest';
import { AwsSolutionsChecks } from 'cdk-nag';
import { EvenShardsStack } from '../../../bin/app';
import cdkJson from '../../../cdk.json';
import { ControlledStack } from '../../support/stacks/controlled-stack';
import { KeyspacesStack } from '../../support/stacks/keyspaces-stack';
import { MultiAttributeStack } from '../../support/stacks/multi-attribute-stack';
import { ProducerSourcesStack } from '../../support/stacks/producer-sources-stack';
import { RelayStack } from '../../support/stacks/relay-stack';
import { reshardingStack } from '../../support/stacks/resharding-stack';
import { WatchedStack } from '../../support/stacks/watched-stack';
import { DaxStack } from './dax-stack';

// Runs with the newest aws-cdk-lib, because cdk-nag needs a newer version than the library.
describe('cdk-nag, AwsSolutions', () => {
  function findings(app: App): string[] {
    app.synth();
    const { violations } = new AwsSolutionsChecks().validateScope(app);
    return violations.map(({ ruleName, description }: PolicyViolation) => `${ruleName}: ${description}`);
  }

  test.each([
    ['the reference app', (app: App) => new EvenShardsStack(app, 'EvenShards')],
    ['a stack with multi-attribute keys', (app: App) => new MultiAttributeStack(app)],
    ['a stack with a DAX cluster', (app: App) => new DaxStack(app)],
    ['a stack with an AdaptiveShardCountController and an IndexKeeper', (app: App) => new ControlledStack(app)],
    ['a stack with Cassandra tables', (app: App) => new KeyspacesStack(app)],
    ['a stack with all constructs that operate and monitor streams and indexes', (app: App) => new WatchedStack(app)],
    [
      'a stack with a queue and a table stream as event sources of a producer',
      (app: App) => new ProducerSourcesStack(app),
    ],
  ])('finds no problem in %s', (_, addStackTo) => {
    const app = new App({ context: cdkJson.context });
    addStackTo(app);

    expect(findings(app)).toEqual([]);
  });

  test('finds in an IndexItemMover only the permissions of the Distributed Map for its own executions', () => {
    const { stack } = reshardingStack({ auditSchedule: Schedule.rate(Duration.days(1)) });
    const found = findings(stack.node.root as App);
    expect(found).toHaveLength(2);
    for (const each of found) expect(each).toMatch(/^AwsSolutions-IAM5\[Resource::arn:[^\]]*:states:.*:execution:/);
  });

  test('finds in an OutboxRelayFunction only the network permissions of Lambda', () => {
    const app = new App({ context: cdkJson.context });
    new RelayStack(app);

    const [found, ...others] = findings(app);
    expect(found).toMatch(/^AwsSolutions-IAM5\[Resource::\*\]/);
    expect(others).toEqual([]);
  });

  test('finds a queue without a dead-letter queue', () => {
    const app = new App();
    new Queue(new Stack(app, 'Bad'), 'Queue');

    expect(findings(app)).toContainEqual(expect.stringMatching(/^AwsSolutions-SQS3/));
  });
});
