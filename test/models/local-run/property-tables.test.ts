import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { treatmentOf } from '../../../bin/local/assembly/ignored-properties';
import type { PropertyTable } from '../../../bin/local/assembly/properties/property-table';
import { PROPERTY_TABLES } from '../../../bin/local/assembly/properties/property-tables';

interface JsiiType {
  readonly properties?: readonly { readonly name: string; readonly type: unknown }[];
}

/** The types of the oldest and of the newest supported version of the CDK. */
const [OLDEST, NEWEST] = ['aws-cdk-lib', 'aws-cdk-lib-newest'].map((name): Readonly<Record<string, JsiiType>> => {
  const directory = dirname(require.resolve(`${name}/package.json`));
  return JSON.parse(gunzipSync(readFileSync(join(directory, '.jsii.gz'))).toString()).types;
}) as [Readonly<Record<string, JsiiType>>, Readonly<Record<string, JsiiType>>];

/** The CDK writes KMSKeyArn as kmsKeyArn, so the tests compare names in lower case. */
function inLowerCase({ honoured, withoutEffect, named }: PropertyTable): PropertyTable {
  const lower = (paths: readonly string[]) => paths.map((path) => path.toLowerCase());
  const each = (byReason: PropertyTable['named']) =>
    Object.fromEntries(Object.entries(byReason).map(([reason, paths]) => [reason, lower(paths)]));
  return { honoured: lower(honoured), withoutEffect: each(withoutEffect), named: each(named) };
}

/** The paths of all properties of a resource type, nested ones included. `descends` says whether to look into a path. */
function pathsOf(
  type: string,
  types: Readonly<Record<string, JsiiType>>,
  descends: (path: string) => boolean = () => true,
): string[] {
  const [, service, resource] = type.split('::');
  const root = `aws-cdk-lib.aws_${service!.toLowerCase()}.Cfn${resource}`;
  const found: string[] = [];
  const walk = (struct: string, prefix: string, outer: readonly string[]): void => {
    for (const { name, type: of } of types[struct]?.properties ?? []) {
      const path = `${prefix}${name}`.toLowerCase();
      found.push(path);
      const inner = [...JSON.stringify(of).matchAll(/"fqn":"([^"]+Property)"/g)].map(([, fqn]) => fqn!);
      if (!descends(path)) continue;
      for (const each of inner) if (!outer.includes(each)) walk(each, `${path}.`, [...outer, each]);
    }
  };
  walk(`${root}Props`, '', []);
  return found;
}

const TABLES = Object.entries(PROPERTY_TABLES).map(([type, table]) => [type, inLowerCase(table)] as const);
const allOf = ({ honoured, withoutEffect, named }: PropertyTable) =>
  [honoured, ...Object.values(withoutEffect), ...Object.values(named)].flat();

describe.each([
  ['oldest', OLDEST],
  ['newest', NEWEST],
] as const)('the tables of properties of a local run and the %s supported CDK', (_, types) => {
  test.each(TABLES)('%s – the table has each property that a template can set', (type, table) => {
    const treatment = (path: string) => treatmentOf(path, table);
    const paths = pathsOf(type, types, (path) => treatment(path) === 'nested');
    expect(paths.length).toBeGreaterThan(0);
    const isUnknown = (path: string) => /does not know/.test(JSON.stringify(treatment(path)));
    expect(paths.filter(isUnknown)).toEqual([]);
  });
});

test.each(TABLES)(
  '%s – each path of the table is a property of the newest CDK, and the table has it once',
  (type, table) => {
    const known = new Set(pathsOf(type, NEWEST));
    expect(allOf(table).filter((path) => !known.has(path))).toEqual([]);
    expect(allOf(table)).toHaveLength(new Set(allOf(table)).size);
  },
);
