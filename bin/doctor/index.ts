import { countTablesOf } from '../deployed-stack/sharding-of-now';
import type { StackResources } from '../deployed-stack/stack-resources';
import {
  checkTargetFlags,
  policyText,
  type Statement,
  TARGET_HELP,
  TARGET_OPTIONS,
  type Target,
  withTarget,
} from '../deployed-stack/target';
import { numberOf, parsedFlags, UsageError } from '../flags';
import { counted } from '../plain-text';
import { print, printError, printText } from '../print';
import { textTable } from '../text-table';
import { type Diagnosis, diagnose } from './diagnose';
import { measuredByCloudWatch } from './measured-by-cloudwatch';
import { measuredByConsole } from './measured-by-console';
import { METRIC_ACTIONS, type MetricClient, metricReader } from './metrics';
import { observe } from './observe';

const COMMAND = 'even-shards doctor';
const DEFAULT_HOURS = 3;
const MOST_HOURS = 24;

const HELP = `usage: even-shards doctor --stack NAME [options]
       even-shards doctor --app DIRECTORY --kinesis-endpoint URL --dynamodb-endpoint URL --console URL [options]

Reads the streams, tables, sharded indexes, consumers and metrics of a stack, and changes nothing. It prints what is uneven, throttled,
near a limit or too costly, the most serious first, with the change to make. For throttled reads and writes of DynamoDB it prints the cause.

  --hours NUMBER  read the metrics of the last hours (default: ${DEFAULT_HOURS}, at most ${MOST_HOURS})
  --scan          also read all items of the sharded tables, to find items that no query returns; costs read units
  --console URL   with --app, the address of the local console, which counts stored and throttled records
  --json          print one JSON document
  --help          show this text

${TARGET_HELP}

exit code: 0 without findings, 1 with findings or if something was not measured, 2 if an argument is invalid, 3 if a request to the account
fails.

example: even-shards doctor --stack Orders --hours 24`;

const OPTIONS = {
  ...TARGET_OPTIONS,
  help: { type: 'boolean', default: false },
  hours: { type: 'string' },
  json: { type: 'boolean', default: false },
  scan: { type: 'boolean', default: false },
  console: { type: 'string' },
} as const;

const EXIT_FOUND = 1;

interface DoctorFlags {
  readonly 'dynamodb-endpoint'?: string;
  readonly endpoint?: string;
  readonly json: boolean;
  readonly permissions: boolean;
  readonly scan: boolean;
  readonly console?: string;
}

export async function doctor(args: string[], metricsOf?: MetricClient): Promise<void> {
  const flags = parsedFlags(COMMAND, { args, options: OPTIONS }).values;
  if (flags.help) return printText(HELP);
  const hours = numberOf(COMMAND, 'hours', flags.hours) ?? DEFAULT_HOURS;
  if (!(hours > 0 && hours <= MOST_HOURS)) {
    throw new UsageError(`--hours must be above 0 and at most ${MOST_HOURS}, got "${flags.hours}"`, COMMAND);
  }
  checkTargetFlags(COMMAND, flags);
  if (flags.console !== undefined && flags.app === undefined) throw new UsageError('--console needs --app', COMMAND);
  // Without --console, the command would read the metrics of CloudWatch in the account.
  if (flags.app !== undefined && !flags.permissions && (flags.console ?? flags.endpoint ?? metricsOf) === undefined) {
    throw new UsageError('--app needs --console, as the local run has printed it', COMMAND);
  }
  await withTarget(COMMAND, flags, (target) => examine(target, flags, hours, metricsOf ?? target.clients.cloudwatch));
}

async function examine(target: Target, flags: DoctorFlags, hours: number, metrics: MetricClient): Promise<void> {
  const { resources, clients } = target;
  if (flags.permissions) return printText(policyText([...target.statements, ...statementsFor(resources, flags.scan)]));
  const measured =
    flags.console === undefined
      ? measuredByCloudWatch(metricReader(metrics, hours, Date.now()))
      : await measuredByConsole(flags.console);
  const onProgress = (line: string) => printError(line);
  const endpoint = flags['dynamodb-endpoint'] ?? flags.endpoint;
  const found = diagnose(await observe(resources, clients, measured, { scan: flags.scan, endpoint, onProgress }));
  const { streams, shardings, consumers } = resources;
  const looked = [
    counted(streams.length, 'stream'),
    counted(shardings.length, 'sharded index or table', 'sharded indexes and tables'),
    counted(consumers.length, 'ordered consumer'),
  ].join(', ');
  if (flags.json) printText(JSON.stringify({ looked, found }, null, 2));
  else print(report(found, looked));
  if (found.length > 0) process.exitCode = EXIT_FOUND;
}

/** The problems as a table, with the most serious problem first, and the change for each problem. */
export function report(found: readonly Diagnosis[], looked: string): string[] {
  if (found.length === 0) return [`nothing to do; looked at ${looked}`];
  return [
    `${found.length} found, the most serious first; looked at ${looked}`,
    '',
    ...textTable(
      ['', 'weight', 'where', 'what'],
      found.map(({ weight, path, id }, index) => [index + 1, weight, path, id]),
    ),
    ...found.flatMap(({ path, what, change }, index) => ['', `${index + 1}. ${path}: ${what}`, `   change: ${change}`]),
  ];
}

/** Permissions to read exactly these resources. IAM cannot limit reads of metrics to a resource. */
function statementsFor({ streams, tables, shardings, consumers }: StackResources, scan: boolean): Statement[] {
  const arnOf = (name: string) => `arn:aws:dynamodb:*:*:table/${name}`;
  const sharded = [...new Set(shardings.map(({ config }) => arnOf(config.tableName)))];
  const counts = [...new Set(shardings.flatMap(({ config }) => countTablesOf(config)).map(arnOf))];
  const parking = [...new Set(consumers.map(({ tableName }) => arnOf(tableName)))];
  const statements: Statement[] = [
    {
      actions: ['kinesis:DescribeStreamSummary', 'kinesis:ListShards'],
      resources: streams.map(({ name }) => `arn:aws:kinesis:*:*:stream/${name}`),
    },
    {
      actions: ['dynamodb:DescribeTable'],
      resources: [...new Set([...sharded, ...tables.map(({ name }) => arnOf(name))])],
    },
    { actions: ['dynamodb:Query'], resources: [...parking, ...(scan ? counts : [])] },
    { actions: ['dynamodb:Scan'], resources: scan ? sharded : [] },
    { actions: METRIC_ACTIONS, resources: ['*'] },
  ];
  return tables.length + streams.length === 0 ? [] : statements.filter(({ resources }) => resources.length > 0);
}
