import { basename } from 'node:path';
import { App, Stack } from 'aws-cdk-lib';
import { AttributeType, TableV2 } from 'aws-cdk-lib/aws-dynamodb';
import { CloudFormationValidatePlugin, type PolicyViolation, Validations } from 'aws-cdk-lib-newest';
import { EvenShardsStack } from '../../../bin/app';
import cdkJson from '../../../cdk.json';
import { KeyspacesStack } from '../../support/stacks/keyspaces-stack';
import { MultiAttributeStack } from '../../support/stacks/multi-attribute-stack';
import { ProducerSourcesStack } from '../../support/stacks/producer-sources-stack';
import { WatchedStack } from '../../support/stacks/watched-stack';

// Runs with the newest aws-cdk-lib, because the oldest supported version does not have this plugin.
describe('CloudFormation validation', () => {
  // All templates share one plugin, because the plugin needs seconds to compile its rules and caches the rules by resource
  // type.
  const plugin = new CloudFormationValidatePlugin();

  function findings(app: App): string[] {
    const validate = jest.spyOn(plugin, 'validate');
    Validations.of(app).addPlugins(plugin);
    app.synth();
    const [report] = validate.mock.results;
    validate.mockRestore();
    return report!.value.violations.map(
      ({ ruleName, description, violatingResources: [resource] }: PolicyViolation) =>
        `${basename(resource?.templatePath ?? '')}: ${ruleName}: ${description}`,
    );
  }

  test('finds no problem in the reference app and in the stacks of the tests', () => {
    const app = new App({ context: cdkJson.context });
    new EvenShardsStack(app, 'EvenShards');
    new MultiAttributeStack(app);
    new WatchedStack(app);
    new ProducerSourcesStack(app);
    new KeyspacesStack(app);

    expect(findings(app)).toEqual([]);
  });

  test('finds an index name that is too short', () => {
    const printed = jest.spyOn(console, 'error').mockImplementation();
    const app = new App();
    const key = { name: 'jobId', type: AttributeType.STRING };
    new TableV2(new Stack(app, 'Bad'), 'Table', {
      partitionKey: key,
      globalSecondaryIndexes: [{ indexName: 'x', partitionKey: key }],
    });

    expect(findings(app)).toContain(
      'Bad.template.json: F3033: GlobalSecondaryIndexes.0.IndexName: length 1 is below minimum 3',
    );
    printed.mockRestore();
  });
});
