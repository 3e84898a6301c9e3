import { SEGMENTS_AT_ONCE, TABLES } from '../../lib/core/foundation/function-environment';
import type { CqlKeyType, ShardedKeyspacesConfig } from '../../lib/core/keyspaces';
import type { ShardedIndexConfig } from '../../lib/core/sharded-index/config/sharded-index-config';
import type { LocalResource } from './assembly/deployment-plan';
import { knownConfigs } from './known-configs';
import type { LocalStack } from './run-local';
import { indexesOf, producersOf } from './sample/sample-targets';
import type { Window } from './window/window-server';

/** What `--json` prints when all is ready. */
export function readyLine({ endpoints, functions, streams, tables, keyspaces }: LocalStack, window?: Window): string {
  return JSON.stringify({
    ready: true,
    endpoints,
    window: window?.url,
    functions: namesByPath(functions),
    streams: namesByPath(streams),
    tables: namesByPath(tables),
    ...(keyspaces && { keyspacesTables: namesByPath(keyspaces.tables) }),
    indexes: Object.fromEntries(knownConfigs(functions, tables).map(({ path, config }) => [path, config])),
  });
}

function namesByPath(resources: readonly Pick<LocalResource, 'path' | 'name'>[]): Record<string, string> {
  return Object.fromEntries(resources.map(({ path, name }) => [path, name]));
}

/** What a person can do now. */
export function examples(stack: LocalStack, window: Window, app: string): string[] {
  // Version 1 of the AWS CLI does not look at AWS_REGION.
  const environment = 'AWS_ACCESS_KEY_ID=local AWS_SECRET_ACCESS_KEY=local AWS_DEFAULT_REGION=us-east-1';
  const payloads = new Map<string, object>([
    ...indexesOf(stack).map(({ functionPath, name, config }) => [functionPath, samplePayload(name, config)] as const),
    ...producersOf(stack).map(({ functionPath }) => [functionPath, SAMPLE_RECORDS] as const),
    ...stack.functions.flatMap(({ path, environment }): [string, object][] => {
      const [[table, config] = []] = Object.entries(JSON.parse(environment[TABLES] ?? '{}'));
      if (table !== undefined) return [[path, { table, value: sampleValue(config) }]];
      return SEGMENTS_AT_ONCE in environment ? [[path, SAMPLE_SEGMENT]] : [];
    }),
  ]);
  const { lambda } = stack.endpoints;
  return [
    'ready; stop with Ctrl-C',
    `watch it at ${window.url}`,
    ...stack.functions.flatMap(({ path, name }) => [
      `# ${path}`,
      `curl ${lambda}/2015-03-31/functions/${name}/invocations -d '${JSON.stringify(payloads.get(path) ?? {})}'`,
    ]),
    ...deployedCommands(stack, window, app),
    '# with the AWS CLI, version 1 or 2',
    `echo '{}' | ${environment} aws lambda invoke --endpoint-url ${lambda} \\`,
    '  --function-name NAME --payload fileb:///dev/stdin /dev/stdout',
  ];
}

/** The commands that work on what is deployed, on what this run has deployed. */
function deployedCommands(stack: LocalStack, { url }: Window, app: string): string[] {
  const { kinesis, dynamodb } = stack.endpoints;
  const where = `--app ${app} --kinesis-endpoint ${kinesis} --dynamodb-endpoint ${dynamodb}`;
  const [index] = indexesOf(stack);
  const [stream] = stack.streams;
  const value = index?.config.valueAttribute === undefined ? '' : ` --value ${sampleText(index.config)}`;
  return [
    '# to read, to follow, and to find what is wrong',
    ...(index === undefined ? [] : [`npx even-shards query ${index.config.indexName}${value} ${where}`]),
    ...(stream === undefined ? [] : [`npx even-shards tail ${stream.path} ${where}`]),
    `npx even-shards doctor ${where} --window ${url}`,
  ];
}

/** A value that an index has a count for, or any. */
function sampleText({ shards }: ShardedIndexConfig): string {
  return Object.keys(shards.byValue ?? {})[0] ?? 'a';
}

/** A value of a table: of each column of its key, if it is one of Amazon Keyspaces. */
function sampleValue(config: unknown): unknown {
  const { partitionKey }: Partial<ShardedKeyspacesConfig> = Object(config);
  return partitionKey ? Object.fromEntries(partitionKey.map(({ name, type }) => [name, SAMPLES[type] ?? 1])) : 'a';
}

const SAMPLES: Partial<Record<CqlKeyType, unknown>> = {
  ...{ ascii: 'a', text: 'a', varchar: 'a', blob: 'YQ==', boolean: true },
  ...{ date: '2020-07-09', time: '08:30:00', timestamp: '2020-07-09T08:30:00.000Z' },
  ...{ timeuuid: '00000000-0000-1000-8000-000000000000', uuid: '00000000-0000-4000-8000-000000000000' },
};

const SAMPLE_RECORDS = { records: [{ partitionKey: 'account-1', data: 'hello' }] };

/** What the state machine of a resharding sends for an audit. */
const SAMPLE_SEGMENT = { segment: 0, totalSegments: 1, request: { mode: 'audit' } };

function samplePayload(index: string, config: ShardedIndexConfig): object {
  const { valueAttribute } = config;
  return valueAttribute === undefined ? { index } : { index, value: sampleText(config) };
}
