import { App, Stack, Validations } from 'aws-cdk-lib';
import { AttributeType, TableV2 } from 'aws-cdk-lib/aws-dynamodb';
import { CloudFormationValidatePlugin } from 'aws-cdk-lib-newest';
import { EvenShardsStack } from '../../bin/app';
import cdkJson from '../../cdk.json';
import { WatchedStack } from '../monitoring/watched-stack';
import { MultiAttributeStack } from './multi-attribute-stack';
import { ProducerSourcesStack } from './producer-sources-stack';

// Runs with the newest aws-cdk-lib in place of the oldest we support, which does not have this plugin yet.
describe('CloudFormation validation', () => {
  function findings(app: App): string[] {
    const plugin = new CloudFormationValidatePlugin();
    const validate = jest.spyOn(plugin, 'validate');
    Validations.of(app).addPlugins(plugin);
    app.synth();
    const [report] = validate.mock.results;
    return report!.value.violations.map(
      (violation: { ruleName: string; description: string }) => `${violation.ruleName}: ${violation.description}`,
    );
  }

  test.each([
    ['the reference app', (app: App) => new EvenShardsStack(app, 'EvenShards')],
    ['a stack with multi-attribute keys', (app: App) => new MultiAttributeStack(app)],
    ['a stack that is operated and watched', (app: App) => new WatchedStack(app)],
    ['a stack with a queue and a table before its producer', (app: App) => new ProducerSourcesStack(app)],
  ])('finds nothing in %s', (_, addStackTo) => {
    const app = new App({ context: cdkJson.context });
    addStackTo(app);

    expect(findings(app)).toEqual([]);
  });

  test('would find something', () => {
    const printed = jest.spyOn(console, 'error').mockImplementation();
    const app = new App();
    const key = { name: 'jobId', type: AttributeType.STRING };
    new TableV2(new Stack(app, 'Bad'), 'Table', {
      partitionKey: key,
      globalSecondaryIndexes: [{ indexName: 'x', partitionKey: key }],
    });

    expect(findings(app)).toContain('F3033: GlobalSecondaryIndexes.0.IndexName: length 1 is below minimum 3');
    printed.mockRestore();
  });
});
