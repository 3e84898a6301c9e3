import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { loadAwsServiceSpecSync } from '@aws-cdk/aws-service-spec';
import { KEPT_TYPES } from '../../../lib/deployment-check/kept-resource';
import { settingText, UPDATE_EFFECTS } from '../../../lib/deployment-check/update-effects';

const spec = loadAwsServiceSpecSync();
const TYPES = Object.entries(UPDATE_EFFECTS);

function resourceOf(type: string) {
  return spec.lookup('resource', 'cloudFormationType', 'equals', type).only();
}

/** Properties that are newer than the specification of this test. */
const NEWER: Readonly<Record<string, readonly string[]>> = {
  'AWS::DynamoDB::GlobalTable': ['TableType'],
  'AWS::Kinesis::Stream': ['RecordDistributionStrategy'],
};

/** The properties of a type in the table, without the fields inside a property. */
function propertiesOf(type: string): string[] {
  const { none, interruption = [], replacement = [], rejected = {} } = UPDATE_EFFECTS[type]!;
  return [...none, ...interruption, ...replacement, ...Object.keys(rejected)].filter((name) => !name.includes('.'));
}

/** The properties of a type that cause a replacement, and the fields inside other properties that do. */
function replacingIn(type: string): string[] {
  const waiting = Object.entries(resourceOf(type).properties);
  const replacing: string[] = [];
  const seen = new Set<string>();
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const [path, { type: of, causesReplacement }] = next;
    if (causesReplacement !== undefined) replacing.push(path);
    const references = causesReplacement === undefined ? JSON.stringify(of).matchAll(/"\$ref":"(\d+)"/g) : [];
    for (const [, id] of references) {
      if (seen.has(id!)) continue;
      seen.add(id!);
      const fields = Object.entries(spec.get('typeDefinition', id!).properties);
      waiting.push(...fields.map(([name, field]): (typeof waiting)[number] => [`${path}.${name}`, field]));
    }
  }
  return replacing.sort();
}

test.each(TYPES)('%s – the table names each property of the specification once', (type) => {
  const known = [...Object.keys(resourceOf(type).properties), ...(NEWER[type] ?? [])];
  expect(propertiesOf(type).sort()).toEqual(known.sort());
});

test.each(TYPES)('%s – the table and the specification agree on the replacing properties', (type, { replacement }) => {
  const { rejected = {} } = UPDATE_EFFECTS[type]!;
  // DynamoDB rejects another key of an index, which Deployment.indexKeySchema reports.
  const isRejected = (path: string) => Object.hasOwn({ ...rejected, GlobalSecondaryIndexes: '' }, path.split('.')[0]!);
  expect([...(replacement ?? [])].sort()).toEqual(replacingIn(type).filter((path) => !isRejected(path)));
});

test.each(TYPES)('%s – the defaults of the specification are the defaults of the table', (type) => {
  const { replacement = [], rejected = {} } = UPDATE_EFFECTS[type]!;
  const { properties } = resourceOf(type);
  const documented = [...replacement, ...Object.keys(rejected)].flatMap((name) => {
    const { defaultValue } = properties[name] ?? {};
    return defaultValue === undefined ? [] : [[name, JSON.parse(String(defaultValue))] as const];
  });
  expect(documented.map(([name, value]) => settingText(value, type, name))).toEqual(documented.map(() => ''));
});

test.each(['aws-cdk-lib', 'aws-cdk-lib-newest'])('the table names each property that %s can set', (library) => {
  const folder = dirname(require.resolve(`${library}/package.json`));
  const { types } = JSON.parse(gunzipSync(readFileSync(join(folder, '.jsii.gz'))).toString());
  const missing = TYPES.flatMap(([type]) => {
    const [, service, resource] = type.split('::');
    const { properties } = types[`aws-cdk-lib.aws_${service!.toLowerCase()}.Cfn${resource}Props`];
    const known = propertiesOf(type).map((name) => name.toLowerCase());
    return properties
      .map(({ name }: { name: string }) => name.toLowerCase())
      .filter((name: string) => !known.includes(name));
  });
  expect(missing).toEqual([]);
});

test('the table has each type whose replacement or removal does harm', () => {
  expect(Object.keys(KEPT_TYPES).filter((type) => !Object.hasOwn(UPDATE_EFFECTS, type))).toEqual([]);
});
