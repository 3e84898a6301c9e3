import { jsonItem } from '../../lambda/query-fanout/json-item';
import { type FanOutPage, fanOutQuery } from '../../lib/core/sharded-index/query/fan-out-query';
import type { FanOutRequest } from '../../lib/core/sharded-index/query/fan-out-request';
import { countTablesOf, type ShardingOfNow, shardingOfNow } from '../deployed-stack/sharding-of-now';
import type { DeployedSharding } from '../deployed-stack/stack-resources';
import {
  chosen,
  policyText,
  type Statement,
  TARGET_HELP,
  TARGET_OPTIONS,
  type Target,
  withTarget,
} from '../deployed-stack/target';
import { flagError, parsedFlags, UsageError } from '../flags';
import { cellText, counted } from '../plain-text';
import { print, printError, printText } from '../print';
import { textTable } from '../text-table';
import { DEFAULT_LIMIT, queryRequest, type RequestFlags } from './query-request';

const COMMAND = 'even-shards query';

const HELP = `usage: even-shards query [INDEX] --stack NAME [options]

Reads one ordered page of a sharded index, or of a table that is sharded by its own key, from all shards. INDEX is its construct
path or the end of this path, such as byStatus, or for a table an output of the stack. INDEX is optional if the stack has only one.

  --value VALUE        read the items of this value; repeat it to read several values in one order
  --eq, --lt, --lte, --gt, --gte, --begins-with SORT, --between FROM,TO   a condition on the sort key
  --order ORDER        ascending, descending or unordered (default: ascending)
  --limit NUMBER       the maximum number of items of a page (default: ${DEFAULT_LIMIT})
  --cursor TEXT        read the page after the page that printed this cursor
  --all                read all pages from there
  --project NAMES      print only these attributes, separated by commas
  --json               print one line of JSON for each item, and the cursor on stderr
  --help               show this text

${TARGET_HELP}

example: even-shards query byStatus --stack Orders --value pending --order descending --limit 10`;

const OPTIONS = {
  ...TARGET_OPTIONS,
  all: { type: 'boolean', default: false },
  'begins-with': { type: 'string' },
  between: { type: 'string' },
  cursor: { type: 'string' },
  eq: { type: 'string' },
  gt: { type: 'string' },
  gte: { type: 'string' },
  help: { type: 'boolean', default: false },
  json: { type: 'boolean', default: false },
  limit: { type: 'string' },
  lt: { type: 'string' },
  lte: { type: 'string' },
  order: { type: 'string' },
  project: { type: 'string' },
  value: { type: 'string', multiple: true },
} as const;

interface QueryFlags extends RequestFlags {
  readonly all: boolean;
  readonly json: boolean;
  readonly permissions: boolean;
}

/** `even-shards query`. */
export async function query(args: string[]): Promise<void> {
  const { values: flags, positionals } = parsedFlags(COMMAND, { args, options: OPTIONS, allowPositionals: true });
  if (flags.help) return printText(HELP);
  if (positionals.length > 1) throw new UsageError('name one index', COMMAND);
  await withTarget(COMMAND, flags, (target) => queryTarget(target, positionals[0], flags));
}

async function queryTarget(target: Target, name: string | undefined, flags: QueryFlags): Promise<void> {
  const sharding = chosen(COMMAND, 'an index', target.resources.shardings, name);
  if (flags.permissions) return printText(policyText([...target.statements, ...statementsFor(sharding)]));
  const { dynamodb } = target.clients;
  const index = await shardingOfNow(dynamodb, sharding.config);
  const request = asUsage(() => queryRequest(COMMAND, flags, index));
  const pages = pagesOf(request, flags.all, (page) => asUsage(() => fanOutQuery(dynamodb, index.source, page)));
  if (flags.json) await printLines(pages);
  else await printTable(pages, index);
}

/** Converts an error about a field of the request to an error about the flag of this field. */
function asUsage<T>(run: () => T): T {
  const explained = (error: unknown): never => {
    throw flagError(COMMAND, error, { projection: '--project', values: '--value' });
  };
  try {
    const result = run();
    return (result instanceof Promise ? result.catch(explained) : result) as T;
  } catch (error) {
    return explained(error);
  }
}

async function* pagesOf(
  request: FanOutRequest,
  isAll: boolean,
  ask: (request: FanOutRequest) => Promise<FanOutPage>,
): AsyncGenerator<FanOutPage> {
  let cursor = request.cursor;
  do {
    const page = await ask({ ...request, ...(cursor !== undefined && { cursor }) });
    yield page;
    ({ cursor } = page);
  } while (isAll && cursor !== undefined);
}

async function printLines(pages: AsyncIterable<FanOutPage>): Promise<void> {
  for await (const { items, cursor } of pages) {
    for (const item of items) print(JSON.stringify(jsonItem(item)));
    if (cursor !== undefined) printError(`cursor: ${cursor}`);
  }
}

async function printTable(pages: AsyncIterable<FanOutPage>, { config }: ShardingOfNow): Promise<void> {
  for await (const { items, cursor, stats, missingShards = [] } of pages) {
    const rows = items.map(jsonItem);
    if (rows.length > 0) {
      const columns = columnsOf(rows, [...config.sortKeyAttributes, ...config.tableKey]);
      print(
        textTable(
          columns,
          rows.map((row) => columns.map((name) => cellText(row[name] ?? ''))),
        ),
      );
    }
    const { shards, requests, consumedReadUnits } = stats;
    print(
      `${counted(items.length, 'item')} from ${counted(shards, 'shard')}, ${counted(requests, 'request')}, ${consumedReadUnits} read units`,
    );
    if (missingShards.length > 0) print(`not read: shards ${missingShards.join(', ')}; request the page again`);
    if (cursor !== undefined) print(`cursor: ${cursor}`);
  }
}

/** The columns: first the sort order, then the key, then the other attributes. */
function columnsOf(rows: readonly Record<string, unknown>[], first: readonly string[]): string[] {
  const all = new Set([...first, ...rows.flatMap((row) => Object.keys(row))]);
  return [...all].filter((name) => rows.some((row) => name in row));
}

function statementsFor({ config }: DeployedSharding): Statement[] {
  const table = `arn:aws:dynamodb:*:*:table/${config.tableName}`;
  const asked = config.indexName === undefined ? table : `${table}/index/${config.indexName}`;
  const counts = countTablesOf(config).map((name) => `arn:aws:dynamodb:*:*:table/${name}`);
  return [
    { actions: ['dynamodb:DescribeTable'], resources: [table] },
    { actions: ['dynamodb:Query'], resources: [asked, ...counts] },
    ...(counts.length > 0 ? [{ actions: ['dynamodb:GetItem'], resources: counts }] : []),
  ];
}
