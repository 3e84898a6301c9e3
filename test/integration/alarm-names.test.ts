import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import * as kinesis from '@aws-sdk/client-kinesis';
import { App } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import * as core from '../../lib/core';
import * as functionMetrics from '../../lib/core/contract/function-metrics';
import { alarmDescriptions } from '../support/alarms/alarm-descriptions';
import { CachedStack } from '../support/stacks/cached-stack';
import { ConsumedStack } from '../support/stacks/consumed-stack';
import { ControlledStack } from '../support/stacks/controlled-stack';
import { RelayStack } from '../support/stacks/relay-stack';
import { WatchedStack } from '../support/stacks/watched-stack';

/** An alarm description and its section in the guide name metrics, options, log lines and columns. All these names must exist. */

const ROOT = join(__dirname, '..', '..');
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');

/** Names of AWS that are in no installed package, each with the page that documents the name. */
const OF_AWS: Readonly<Record<string, string>> = {
  Event: 'the Lambda API reference, Invoke, InvocationType',
  requestPayload: 'the Lambda developer guide, capturing records of Lambda asynchronous invocations',
  StartMessageMoveTask: 'the Amazon SQS API reference',
};

const bundles = readdirSync(join(ROOT, 'dist/lambda')).map((name) => read(`dist/lambda/${name}/index.js`));
const schema = core.outboxMigrations.map(({ sql }) => sql).join('\n');
const exceptions = read('node_modules/@aws-sdk/client-dynamodb/dist-types/models/errors.d.ts');
/** The fields of a page request and of its statistics. */
const pages = ['sharded-index/query/fan-out-request', 'fan-out/fan-out-stats']
  .map((name) => read(`dist/lib/core/${name}.d.ts`))
  .join('\n');

const names = new Set([
  ...namesIn(JSON.parse(read('.jsii'))),
  ...namesIn(JSON.parse(gunzipSync(readFileSync(join(ROOT, 'node_modules/aws-cdk-lib/.jsii.gz'))).toString())),
  ...Object.keys(core),
  ...Object.keys(kinesis).map((name) => name.replace(/Command$/, '')),
  ...Object.values(functionMetrics).flatMap((metrics) => (typeof metrics === 'object' ? Object.values(metrics) : [])),
  ...Object.keys(OF_AWS),
]);
const hasWord = (text: string, word: string) => new RegExp(`(?<![\\w-])${word}(?![\\w-])`).test(text);

const titles = dashboardTitles();

/** Resource names of the test stacks. */
const OF_STACKS = ['byStatus', 'byTime', 'tracker.blogs'];

const descriptions = alarmDescriptions().map(([id, text]) => [id, text.replace(/ See \S+$/, '')] as const);
const guide = read('docs/guides/monitoring.md');
const headings = guide
  .split('\n## Alarms')[1]!
  .split('\n## ')[0]!
  .split('\n### ')
  .slice(1)
  .map((section) => {
    const end = section.indexOf('\n');
    return [section.slice(0, end), section.slice(end).replaceAll(/\s+/g, ' ')] as const;
  });

describe('every name in an alarm description exists', () => {
  test.each(descriptions)('%s', (_, text) => {
    const events = text.match(/\{[^}]*\}/g) ?? [];
    const lines = [...text.replaceAll(/\{[^}]*\}/g, '').matchAll(/"([^"]+)"/g)].map(([, line]) => line!);
    const words = text.match(/\b[A-Za-z]+(?:[a-z][A-Z]|[._][a-z])\w*\b/g) ?? [];
    expect([...events.filter((event) => !isEvent(event)), ...lines.filter((line) => !isLogged(line))]).toEqual([]);
    expect(words.filter((word) => !exists(word) && !OF_STACKS.includes(word))).toEqual([]);
  });

  test('the descriptions contain names to check', () => {
    const all = descriptions.map(([, text]) => text).join(' ');
    for (const name of [
      'alsoReading',
      'ShardCounts.adaptive',
      'last_error',
      'maxCapacity',
      '"records failed"',
      '{"dryRun":true}',
    ]) {
      expect(all).toContain(name);
    }
  });
});

describe('every name in a section of the monitoring guide exists', () => {
  test.each(headings)('%s', (_, text) => {
    const code = [...text.matchAll(/`([^`]+)`/g)].map(([, name]) => name!);
    expect(code.filter((name) => !exists(name) && !isEvent(name) && !isField(name))).toEqual([]);
    const graphs = [...text.matchAll(/\*\*([^*]+)\*\*/g)]
      .map(([, title]) => title!)
      .filter((title) => !isEmphasis(title));
    expect(graphs.filter((title) => !titles.has(title))).toEqual([]);
  });
});

/** True for a name of the library, the CDK, AWS or the outbox schema, and for a call with such names: `add({ repair: true })`. */
function exists(name: string): boolean {
  const parts = name.match(/[A-Za-z]\w*/g)!.filter((part) => part !== 'true' && part !== 'false');
  return parts.every(
    (part) =>
      names.has(part) ||
      [schema, exceptions, pages].some((text) => hasWord(text, part)) ||
      isCode(part) ||
      isReason(part),
  );
}

/** True for a payload whose fields a function reads. */
function isEvent(text: string): boolean {
  if (!text.startsWith('{')) return false;
  return Object.keys(JSON.parse(text)).every((field) => bundles.some((bundle) => hasWord(bundle, field)));
}

/** True for a log line such as `"message": "row rejected"`. */
function isField(text: string): boolean {
  const [, line] = /^"message": "(.+)"$/.exec(text) ?? [];
  return line !== undefined && isLogged(line);
}

function isLogged(line: string): boolean {
  return bundles.some((bundle) => bundle.includes(`message:"${line}"`));
}

/** True for an error code of a function. */
function isCode(text: string): boolean {
  return /^[A-Z_]+$/.test(text) && bundles.some((bundle) => bundle.includes(`"${text}"`));
}

/** True for a throttling reason of DynamoDB in the code of the library. */
function isReason(text: string): boolean {
  return (
    /Exceeded$/.test(text) &&
    bundles
      .concat(read('dist/lib/core/adaptive-counts/write-reporter.js'))
      .some((code) => code.includes(`'${text}'`) || code.includes(`"${text}"`))
  );
}

/** True for the bold beginning of a list item, such as **It fails.** */
function isEmphasis(title: string): boolean {
  return /^(It|A|An|The) /.test(title);
}

/** Every name of a jsii assembly: of types, members, parameters. */
function namesIn(node: unknown): string[] {
  if (Array.isArray(node)) return node.flatMap(namesIn);
  if (typeof node !== 'object' || node === null) return [];
  const { name } = node as { name?: unknown };
  return [...(typeof name === 'string' ? [name] : []), ...Object.values(node).flatMap(namesIn)];
}

/** The titles of all graphs that `ShardMonitoring` draws. */
function dashboardTitles(): Set<string> {
  const app = new App();
  const relay = new RelayStack(app);
  relay.monitoring.addOutbox(relay.relay);
  const bodies = [
    new WatchedStack(app),
    new ControlledStack(app),
    new CachedStack(app),
    new ConsumedStack(app),
    relay,
  ].flatMap((stack) =>
    Object.values(Template.fromStack(stack).findResources('AWS::CloudWatch::Dashboard')).map(({ Properties }) =>
      JSON.stringify(Properties.DashboardBody),
    ),
  );
  return new Set(bodies.flatMap((body) => [...body.matchAll(/\\"title\\":\\"(.*?)\\"/g)].map(([, title]) => title!)));
}
