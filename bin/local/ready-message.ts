import { shellWord } from '../plain-text';
import type { LocalResource } from './assembly/local-resource';
import type { LocalConsole } from './console/console-server';
import { parkingsOf } from './parkings';
import { indexesOf } from './producers-and-indexes';
import type { LocalStack } from './run-local';
import { samplePayloads, sampleValue } from './sample-payloads';
import { type Sharded, shardedConfigs } from './sharded-configs';

/** The line that `--json` prints when everything is ready. */
export function readyLine(stack: LocalStack, localConsole?: LocalConsole): string {
  const { endpoints, functions, streams, tables, keyspaces } = stack;
  return JSON.stringify({
    ready: true,
    endpoints,
    console: localConsole?.url,
    functions: namesByPath(functions),
    streams: namesByPath(streams),
    tables: namesByPath(tables),
    ...(keyspaces && { keyspacesTables: namesByPath(keyspaces.tables) }),
    indexes: Object.fromEntries(shardedConfigs(stack).map((sharded) => [pathOf(sharded), sharded.config])),
  });
}

/** The construct path of the table, followed by the name of the index: `Orders/Table/byStatus`. */
function pathOf({ path, config }: Sharded): string {
  return config.indexName === undefined ? path : `${path}/${config.indexName}`;
}

function namesByPath(resources: readonly Pick<LocalResource, 'path' | 'name'>[]): Record<string, string> {
  return Object.fromEntries(resources.map(({ path, name }) => [path, name]));
}

/** Examples of commands that a person can run now. */
export function examples(stack: LocalStack, localConsole: Pick<LocalConsole, 'url'>, app: string): string[] {
  // Version 1 of the AWS CLI does not read AWS_REGION.
  const environment = 'AWS_ACCESS_KEY_ID=local AWS_SECRET_ACCESS_KEY=local AWS_DEFAULT_REGION=us-east-1';
  const payloads = samplePayloads(stack);
  const { lambda } = stack.endpoints;
  return [
    'ready; stop with Ctrl-C',
    `watch it at ${localConsole.url}`,
    ...stack.functions.flatMap(({ path, name }) => [
      `# ${path}`,
      `curl ${lambda}/2015-03-31/functions/${name}/invocations -d ${shellWord(JSON.stringify(payloads.get(path) ?? {}))}`,
    ]),
    ...deployedCommands(stack, localConsole, app),
    '# with the AWS CLI, version 1 or 2',
    `echo '{}' | ${environment} aws lambda invoke --endpoint-url ${lambda} \\`,
    '  --function-name NAME --payload fileb:///dev/stdin /dev/stdout',
  ];
}

/** The commands for deployed apps, with the flags to use them with this run. */
function deployedCommands(stack: LocalStack, { url }: Pick<LocalConsole, 'url'>, app: string): string[] {
  const { kinesis, dynamodb } = stack.endpoints;
  const where = `--app ${shellWord(app)} --kinesis-endpoint ${kinesis} --dynamodb-endpoint ${dynamodb}`;
  const [index] = indexesOf(stack);
  const [stream] = stack.streams;
  const value = index?.config.valueAttribute === undefined ? '' : ` --value ${shellWord(String(sampleValue(index)))}`;
  const [parking] = parkingsOf(stack);
  return [
    '# to look at the deployed resources',
    ...(index === undefined ? [] : [`npx even-shards query ${index.config.indexName}${value} ${where}`]),
    ...(stream === undefined ? [] : [`npx even-shards tail ${stream.path} ${where}`]),
    ...(parking === undefined
      ? []
      : [`npx even-shards parked --table ${parking.tableName} --consumer ${parking.consumer} --endpoint ${dynamodb}`]),
    `npx even-shards doctor ${where} --console ${url} --scan`,
  ];
}
