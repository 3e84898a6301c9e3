import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { App, type Stack } from 'aws-cdk-lib';
import { type AssemblyStack, readCloudAssembly } from '../../../bin/local/assembly/cloud-assembly';
import { planDeployment } from '../../../bin/local/assembly/deployment-plan';
import { type IgnoredProperty, treatmentOf } from '../../../bin/local/assembly/ignored-properties';
import type { PropertyTable } from '../../../bin/local/assembly/properties/property-table';
import { PROPERTY_TABLES } from '../../../bin/local/assembly/properties/property-tables';
import { AdaptiveOrdersStack } from '../../../examples/adaptive-orders/adaptive-orders-stack';
import { InvoiceStack } from '../../../examples/invoice-table/invoice-stack';
import { JobStatesStack } from '../../../examples/job-states/job-states-stack';
import { BlogsStack } from '../../../examples/keyspaces-blogs/blogs-stack';
import { PlainWritersStack } from '../../../examples/plain-writers/plain-writers-stack';
import { synthesizeReferenceApp } from '../../support/reference-app';

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

/** The cloud assemblies to read, separated by colons, in place of the apps of this repository. */
const { CLOUD_ASSEMBLIES } = process.env;

const folders: string[] = [];
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true });
});

function assemblyOf(synthesize: (outdir: string) => void): string {
  const outdir = mkdtempSync(join(tmpdir(), 'silent-differences-'));
  folders.push(outdir);
  synthesize(outdir);
  return outdir;
}

const example = (define: (app: App) => Stack) => () =>
  assemblyOf((outdir) => {
    const app = new App({ outdir });
    define(app);
    app.synth();
  });

const APPS: Readonly<Record<string, () => string>> = {
  'the reference app': () => {
    const folder = synthesizeReferenceApp();
    folders.push(folder);
    return folder;
  },
  'adaptive-orders': example((app) => new AdaptiveOrdersStack(app, 'A', { code: __dirname })),
  'invoice-table': example((app) => new InvoiceStack(app, 'A')),
  'job-states': example((app) => new JobStatesStack(app, 'A', { shares: { succeeded: 7, failed: 3 }, shards: 20 })),
  'keyspaces-blogs': example((app) => new BlogsStack(app, 'A')),
  'plain-writers': example((app) => new PlainWritersStack(app, 'A')),
};

const ASSEMBLIES =
  CLOUD_ASSEMBLIES === undefined
    ? Object.entries(APPS)
    : CLOUD_ASSEMBLIES.split(':').map((folder): [string, () => string] => [basename(dirname(folder)), () => folder]);

/**
 * The differences of a local run from the templates of an app: each property and each resource that the run neither honours nor
 * names. Reads every property of the templates.
 */
function differencesIn(app: string): { silent: string[]; named: Set<string> } {
  const stacks = readCloudAssembly(app);
  const { ignored, leftOut } = planDeployment(stacks, { multiAttributeKeys: true });
  const left = new Set(leftOut.map(({ path }) => path));
  const named = new Set<string>();
  const silentIn = (stack: AssemblyStack): string[] => [
    ...Object.entries(stack.template.Resources ?? {}).flatMap(([logicalId, { Type, Properties }]) => {
      const path = stack.constructPaths.get(logicalId) ?? `${stack.name}/${logicalId}`;
      if (left.has(path) || stack.nested.has(logicalId)) return [];
      if (!Object.hasOwn(PROPERTY_TABLES, Type)) return [`${path} (${Type})`];
      const ofResource = ignored.filter((each) => each.path === path);
      for (const { property } of ofResource) named.add(`${Type}.${property}`);
      return unnamed(PROPERTY_TABLES[Type]!, Properties, ofResource).map((each) => `${each} of ${path} (${Type})`);
    }),
    ...[...stack.nested.values()].flatMap(silentIn),
  ];
  return { silent: stacks.flatMap(silentIn), named };
}

/** The properties of a template that change what AWS does and are not named by the run. */
function unnamed(table: PropertyTable, properties: unknown, named: readonly IgnoredProperty[], prefix = ''): string[] {
  return [properties].flat().flatMap((each) =>
    Object.entries(Object(each)).flatMap(([name, value]): string[] => {
      const path = `${prefix}${name}`;
      const treatment = treatmentOf(path, table);
      const isHarmless = String(value) === String(table.harmless?.[path]) || String(value) === '';
      if (isHarmless || named.some(({ property }) => property === path)) return [];
      if (treatment === 'nested') return unnamed(table, value, named, `${path}.`);
      return typeof treatment === 'object' ? [path] : [];
    }),
  );
}

const namedInApps = new Set<string>();

test.each(ASSEMBLIES)(
  'a local run of %s names each property that has an effect and that it does not honour',
  (_, appOf) => {
    const { silent, named } = differencesIn(appOf());
    for (const each of named) namedInApps.add(each);
    expect(silent).toEqual([]);
  },
);

test('the templates of all apps set at most 15 named properties', () => {
  if (CLOUD_ASSEMBLIES !== undefined) process.stderr.write(`${JSON.stringify([...namedInApps].sort())}\n`);
  expect(namedInApps.size).toBeLessThanOrEqual(15);
});
