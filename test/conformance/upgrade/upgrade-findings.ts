import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { missingPermissions, policiesOf } from './permissions';
import { earlierThan, type Resource, referencesOf, type Template } from './template';

/**
 * The harmful differences between the template of the last release and the template of the working tree, such as
 * "Producer34A: the logical id is gone". Each difference needs a reason in release/breaks.json.
 */
export function upgradeFindings(before: Template, after: Template): string[] {
  return [
    ...lostResources(before, after),
    ...replacedResources(before, after),
    ...weakerPolicies(before, after),
    ...lostPermissions(before, after),
    ...latePermissions(after),
    ...lostVariables(before, after),
    ...changedMetrics(before, after),
  ];
}

/** Pairs of a resource in the old template and the resource with its logical id and type in the new template. */
function keptResources(before: Template, after: Template): [string, Resource, Resource][] {
  return Object.entries(before.Resources).flatMap(([id, old]) => {
    const now = after.Resources[id];
    return now?.Type === old.Type ? [[id, old, now] as [string, Resource, Resource]] : [];
  });
}

function lostResources(before: Template, after: Template): string[] {
  return Object.entries(before.Resources).flatMap(([id, { Type }]) => {
    const now = after.Resources[id];
    if (now === undefined) return [`${id}: the logical id of ${Type} is gone`];
    return now.Type === Type ? [] : [`${id}: the type changes from ${Type} to ${now.Type}`];
  });
}

/** The resources that CloudFormation may replace, by the resource schemas in the CDK's own copy of the service specification. */
function replacedResources(before: Template, after: Template): string[] {
  const replaced = new Map<string, string[]>();
  const resources = keptResources(before, after);
  let known: number;
  do {
    known = replaced.size;
    for (const [id, old, now] of resources) {
      if (replaced.has(id)) continue;
      const changed = replacingProperties(now.Type).filter((name) => {
        const [from, to] = [old, now].map(({ Properties }) => JSON.stringify(Properties?.[name]));
        const next = { Type: now.Type, Properties: { [name]: now.Properties?.[name] } };
        return from !== to || [...referencesOf(next)].some((each) => replaced.has(each));
      });
      if (changed.length > 0) replaced.set(id, changed);
    }
  } while (replaced.size > known);
  return [...replaced].map(
    ([id, names]) => `${id}: another ${names.join(' and ')} replaces ${after.Resources[id]!.Type}`,
  );
}

type Schema = Record<string, { causesReplacement?: 'yes' | 'maybe' | 'no' }>;
let schemas: Map<string, Schema> | undefined;

function replacingProperties(type: string): string[] {
  schemas ??= readSchemas();
  const isCustom = /^(Custom::|AWS::CloudFormation::CustomResource$)/.test(type);
  const schema = schemas.get(type);
  if (schema === undefined && !isCustom) throw new Error(`the service specification does not have ${type}`);
  return Object.entries(schema ?? { ServiceToken: { causesReplacement: 'yes' } })
    .filter(([, { causesReplacement = 'no' }]) => causesReplacement !== 'no')
    .map(([name]) => name);
}

function readSchemas(): Map<string, Schema> {
  const file = join(__dirname, '../../../node_modules/aws-cdk/db.json.gz');
  const { schema } = JSON.parse(gunzipSync(readFileSync(file)).toString());
  const entities: { cloudFormationType: string; properties: Schema }[] = schema.resource.entities;
  return new Map(entities.map(({ cloudFormationType, properties }) => [cloudFormationType, properties]));
}

/** A resource that was kept after its removal or replacement must still be kept. */
function weakerPolicies(before: Template, after: Template): string[] {
  return keptResources(before, after).flatMap(([id, old, now]) =>
    (['DeletionPolicy', 'UpdateReplacePolicy'] as const)
      .filter((policy) => ['Retain', 'Snapshot'].includes(old[policy] ?? '') && old[policy] !== now[policy])
      .map((policy) => `${id}: ${policy} was ${old[policy]}, and is ${now[policy]}`),
  );
}

/** While CloudFormation updates a stack, the old code runs with the new policies of its role. */
function lostPermissions(before: Template, after: Template): string[] {
  return keptResources(before, after)
    .filter(([, { Type }]) => Type === 'AWS::IAM::Role')
    .flatMap(([id]) => missingPermissions(before, after, id).map((what) => `${id}: the role loses ${what}`));
}

/**
 * New code must find its permissions. So CloudFormation must update each policy of a role before the functions and state
 * machines of the role. The same holds for the event source mappings and custom resources that call these functions.
 */
function latePermissions(after: Template): string[] {
  const { Resources } = after;
  const starting = ['AWS::Lambda::Function', 'AWS::Lambda::EventSourceMapping', 'AWS::StepFunctions::StateMachine'];
  return Object.entries(Resources)
    .filter(([, { Type, Properties }]) => starting.includes(Type) || Properties?.ServiceToken !== undefined)
    .flatMap(([id]) => {
      const earlier = earlierThan(after, id);
      const roles = [...earlier].filter((each) => Resources[each]!.Type === 'AWS::IAM::Role');
      return (
        roles
          .flatMap((role) => policiesOf(after, role))
          // A policy that names the resource itself can only come after the resource.
          .filter((policy) => !earlier.has(policy) && !earlierThan(after, policy).has(id))
          .map((policy) => `${id}: CloudFormation may update it before its policy ${policy}`)
      );
    });
}

/** The old code runs with the new environment between the two requests of an update of a function. */
function lostVariables(before: Template, after: Template): string[] {
  return keptResources(before, after).flatMap(([id, old, now]) => {
    const [from, to] = [old, now].map(({ Properties }) => Object.keys(variablesOf(Properties)));
    return from!.filter((name) => !to!.includes(name)).map((name) => `${id}: the variable ${name} is gone`);
  });
}

function variablesOf(properties: Resource['Properties'] = {}): object {
  return (properties.Environment as { Variables?: object } | undefined)?.Variables ?? {};
}

/** Users have alarms, dashboards and actions of their own for these names. */
const NAMES: Readonly<Record<string, readonly string[]>> = {
  'AWS::CloudWatch::Alarm': ['AlarmName', 'Namespace', 'MetricName', 'Dimensions', 'Metrics'],
  'AWS::CloudWatch::Dashboard': ['DashboardName'],
  'AWS::Logs::MetricFilter': ['MetricTransformations'],
};

function changedMetrics(before: Template, after: Template): string[] {
  return keptResources(before, after).flatMap(([id, old, now]) =>
    (NAMES[old.Type] ?? [])
      .filter((name) => JSON.stringify(old.Properties?.[name]) !== JSON.stringify(now.Properties?.[name]))
      .map((name) => `${id}: ${name} of ${old.Type} changes`),
  );
}
