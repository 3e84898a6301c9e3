import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { App, type IPropertyInjector, PropertyInjectors, Stack } from 'aws-cdk-lib';
import * as ec2 from 'aws-cdk-lib/aws-ec2';
import { EvenShardsStack } from '../../../bin/app';
import { StreamReshardingProvider } from '../../../lib';
import { KeyspacesStack } from '../../support/stacks/keyspaces-stack';
import { MultiAttributeStack } from '../../support/stacks/multi-attribute-stack';
import { ProducerSourcesStack } from '../../support/stacks/producer-sources-stack';
import { RelayStack } from '../../support/stacks/relay-stack';
import { WatchedStack } from '../../support/stacks/watched-stack';

const LIB = join(__dirname, '..', '..', '..', 'lib');

/** Every class with property injection in the CDK modules that the library imports. */
function injectableClasses(): string[] {
  const sources = readdirSync(LIB, { recursive: true, encoding: 'utf8' }).filter((each) => each.endsWith('.ts'));
  const imports = sources.flatMap((each) => [
    ...readFileSync(join(LIB, each), 'utf8').matchAll(/import [^;]*from '(aws-cdk-lib[^']*)'/g),
  ]);
  const modules = new Set(imports.map(([, name]) => name!));
  return [...modules].flatMap((name) => Object.values(require(name)).flatMap((each) => idOf(each) ?? []));
}

function idOf(exported: unknown): string | undefined {
  return typeof exported === 'function'
    ? (exported as { PROPERTY_INJECTION_ID?: string }).PROPERTY_INJECTION_ID
    : undefined;
}

/** The first stack frame that is not in this injector, in the CDK code that calls injectors, or in the library's injector. */
function caller(): string {
  const frames = new Error().stack!.split('\n').slice(1);
  const [wrapper, ofCaller] = frames.filter(
    (each) => !/undefined-properties|applyInjectors|lib\/construct\/blueprint/.test(each),
  );
  return wrapper!.includes('node_modules') ? ofCaller! : wrapper!;
}

test('the library passes no undefined property to CDK, because a property injector would treat the property as set', () => {
  const found = new Set<string>();
  const injected = new Set<string>();
  const recorder = (constructUniqueId: string): IPropertyInjector => ({
    constructUniqueId,
    inject: (props) => {
      const from = caller();
      if (!from.includes(`${LIB}/`)) return props;
      injected.add(constructUniqueId);
      for (const [key, value] of Object.entries(props ?? {})) {
        if (value === undefined) found.add(`${constructUniqueId}: ${key} (${from.trim()})`);
      }
      return props;
    },
  });
  const app = new App();
  PropertyInjectors.of(app).add(...injectableClasses().map(recorder));

  new EvenShardsStack(app, 'EvenShards');
  new MultiAttributeStack(app);
  new WatchedStack(app);
  new ProducerSourcesStack(app);
  new KeyspacesStack(app);
  new RelayStack(app);
  const network = new Stack(app, 'Network');
  new StreamReshardingProvider(network, 'Provider', { vpc: new ec2.Vpc(network, 'Vpc') });

  expect([...found]).toEqual([]);
  for (const name of [
    'aws-kinesis.Stream',
    'aws-dynamodb.TableV2',
    'aws-lambda.Function',
    'aws-log.LogGroup',
    'aws-iam.Role',
    'aws-sqs.Queue',
    'aws-events.Rule',
    'aws-cloudwatch.Alarm',
    'aws-cloudwatch.Dashboard',
    'aws-ec2.SecurityGroup',
  ]) {
    expect([...injected]).toContain(`aws-cdk-lib.${name}`);
  }
});
