import type { IndexKeyAttribute, KeyAttributeType } from '../../lib/core/sharded-index/config/index-rejections';
import { STACK_ACTIONS } from '../deployed-stack/account-stack';
import { countTablesOf } from '../deployed-stack/sharding-of-now';
import type { StackResources } from '../deployed-stack/stack-resources';
import {
  checkTargetFlags,
  policyText,
  type Statement,
  TARGET_HELP,
  TARGET_OPTIONS,
  type Target,
  withClients,
  withTarget,
} from '../deployed-stack/target';
import { numberOf, parsedFlags, UsageError } from '../flags';
import { counted } from '../plain-text';
import { languageOf } from '../plan/code-language';
import { print, printError, printText } from '../print';
import { textTable } from '../text-table';
import { INSIGHT_ACTIONS } from './contributor-insights';
import { diagnose } from './diagnose';
import { type Diagnosis, notMeasured } from './diagnosis';
import { measuredByCloudWatch } from './measured-by-cloudwatch';
import { measuredByConsole } from './measured-by-console';
import { METRIC_ACTIONS, type MetricClient, metricReader } from './metrics';
import { isDenied, type Observations } from './observations';
import { CONSUMER_ACTIONS, observe, RECOVERY_ACTIONS } from './observe';
import { comparisonLines } from './rejected-items';
import type { AdviceOptions } from './shown-keys';
import { MIN_SAMPLE_UNITS } from './table-sample';

const COMMAND = 'even-shards doctor';
const DEFAULT_HOURS = 3;
const MAX_HOURS = 24;

const EXIT_FOUND = 1;
/** Missing data can hide a problem, so the exit code differs from the code of a healthy stack. */
const EXIT_NOT_MEASURED = 6;

const HELP = `usage: even-shards doctor --table NAME [options]
       even-shards doctor --stream NAME [options]
       even-shards doctor --stack NAME [options]
       even-shards doctor --app DIRECTORY --kinesis-endpoint URL --dynamodb-endpoint URL --console URL [options]

Reads tables, streams, consumers and metrics, and changes nothing. It works before and after you use this library. It prints what is throttled,
uneven, near a limit or too costly, the most serious first, with the change to make. For throttles of DynamoDB it prints the cause, the busiest
keys, how many shards would be enough, their cost, and whether shards help. For a table or a stream without this library it also prints the
CDK code and the case of the guide that lists the steps.

  --table NAME    a table of the account, of any owner
  --stream NAME   a stream of the account, of any owner
  --hours NUMBER  read the metrics of the last hours (default: ${DEFAULT_HOURS}, at most ${MAX_HOURS})
  --sample UNITS  also read items of all parts of each table without shards, for at most this many read units (at least ${MIN_SAMPLE_UNITS})
  --show-keys     print the values of keys, which are data of the application (default: keys are hidden)
  --value NAME:TYPE, --sort NAME:TYPE
                  with --table and --sample, the value and the sort key of an index that you want to add. The type is S, N or B. The
                  command counts the items that this index would reject
  --scan          also read all items of the sharded tables, to find items that no query returns; costs read units. Without it, these
                  items count as not measured
  --console URL   with --app, the address of the local console, which counts stored and throttled records
  --language NAME language of the CDK code: typescript, python or java (default: typescript)
  --json          print one JSON document
  --help          show this text

${TARGET_HELP}

exit code: 0 without findings, 1 with findings, ${EXIT_NOT_MEASURED} if nothing was found but something was not measured or not allowed, 2 if an
argument is invalid, 3 if a request to the account fails. For sharded indexes and tables, 0 needs --scan.

example: even-shards doctor --table Orders --hours 24 --sample 500`;

const OPTIONS = {
  ...TARGET_OPTIONS,
  help: { type: 'boolean', default: false },
  hours: { type: 'string' },
  json: { type: 'boolean', default: false },
  language: { type: 'string' },
  sample: { type: 'string' },
  scan: { type: 'boolean', default: false },
  'show-keys': { type: 'boolean', default: false },
  sort: { type: 'string' },
  stream: { type: 'string' },
  table: { type: 'string' },
  value: { type: 'string' },
  console: { type: 'string' },
} as const;

type DoctorFlags = ReturnType<typeof parsedFlags<{ options: typeof OPTIONS }>>['values'];

export async function doctor(args: string[], metricsOf?: MetricClient): Promise<void> {
  const flags = parsedFlags(COMMAND, { args, options: OPTIONS }).values;
  if (flags.help) return printText(HELP);
  const options = optionsOf(flags);
  const named = namedResources(flags);
  if (named !== undefined) {
    return withClients(COMMAND, flags, async (clients) => {
      const target = { resources: named, clients, statements: [] };
      await examine(target, flags, options, metricsOf ?? clients.cloudwatch);
    });
  }
  checkTargetFlags(COMMAND, flags);
  if (flags.console !== undefined && flags.app === undefined) throw new UsageError('--console needs --app', COMMAND);
  // Without --console, the command would read the metrics of CloudWatch in the account.
  if (flags.app !== undefined && !flags.permissions && (flags.console ?? flags.endpoint ?? metricsOf) === undefined) {
    throw new UsageError('--app needs --console, as the local run has printed it', COMMAND);
  }
  try {
    await withTarget(COMMAND, flags, (target) =>
      examine(target, flags, options, metricsOf ?? target.clients.cloudwatch),
    );
  } catch (error) {
    const { cause } = error as Error;
    // Without the stack, the resources of the policy are not known.
    if (flags.permissions || flags.stack === undefined || !isDenied(cause)) throw error;
    const why = `access denied: ${(cause as Error).message}`;
    const missing = { why, change: `allow ${STACK_ACTIONS.join(' and ')}` };
    printFindings([notMeasured(flags.stack, 'the resources of the stack', missing)], 'no resource', flags);
  }
}

interface Options extends AdviceOptions {
  readonly hours: number;
  readonly sampleUnits?: number;
  readonly wanted?: readonly IndexKeyAttribute[];
}

function optionsOf(flags: DoctorFlags): Options {
  const hours = numberOf(COMMAND, 'hours', flags.hours) ?? DEFAULT_HOURS;
  if (!(hours > 0 && hours <= MAX_HOURS)) {
    throw new UsageError(`--hours must be above 0 and at most ${MAX_HOURS}, got "${flags.hours}"`, COMMAND);
  }
  const sampleUnits = numberOf(COMMAND, 'sample', flags.sample);
  if (sampleUnits !== undefined && !(sampleUnits >= MIN_SAMPLE_UNITS)) {
    throw new UsageError(
      `--sample must be at least ${MIN_SAMPLE_UNITS} read units, the cost of the largest item, got "${flags.sample}"`,
      COMMAND,
    );
  }
  const wanted = [
    ...wantedAttribute('value', flags.value, 'partition'),
    ...wantedAttribute('sort', flags.sort, 'sort'),
  ];
  if (wanted.length > 0 && (flags.table === undefined || sampleUnits === undefined)) {
    throw new UsageError('--value and --sort need --table and --sample', COMMAND);
  }
  return {
    hours,
    showKeys: flags['show-keys'],
    language: languageOf(COMMAND, flags.language),
    ...(sampleUnits !== undefined && { sampleUnits }),
    ...(wanted.length > 0 && { wanted }),
  };
}

function wantedAttribute(flag: string, text: string | undefined, role: IndexKeyAttribute['role']): IndexKeyAttribute[] {
  if (text === undefined) return [];
  const [, name, type] = /^(.+):([SNB])$/s.exec(text) ?? [];
  if (name !== undefined) return [{ name, type: type as KeyAttributeType, role }];
  throw new UsageError(`--${flag} must be NAME:TYPE with the type S, N or B, got "${text}"`, COMMAND);
}

/** The table and the stream that the flags name. Undefined if the flags name a stack or an app. */
function namedResources({ table, stream, stack, app }: DoctorFlags): StackResources | undefined {
  if (table === undefined && stream === undefined) return undefined;
  if (stack !== undefined || app !== undefined) {
    throw new UsageError('give --table and --stream, or --stack, or --app', COMMAND);
  }
  const named = (flag: string, name: string | undefined) => {
    // DynamoDB accepts an ARN, too, but the metrics have only the name.
    if (name !== undefined && !/^[\w.-]{1,255}$/.test(name)) {
      throw new UsageError(`--${flag} must be a name with letters, digits, "_", "-" and ".", got "${name}"`, COMMAND);
    }
    return name === undefined ? [] : [{ path: name, name, aliases: [], properties: {} }];
  };
  return { streams: named('stream', stream), tables: named('table', table), shardings: [], consumers: [], keepers: [] };
}

async function examine(target: Target, flags: DoctorFlags, options: Options, metrics: MetricClient): Promise<void> {
  const { resources, clients } = target;
  const { streams, tables, shardings, consumers, keepers } = resources;
  if (streams.length + tables.length === 0) throw new UsageError('the stack has no stream and no table', COMMAND);
  if (flags.permissions) {
    return printText(policyText([...target.statements, ...statementsFor(resources, flags, options)]));
  }
  const measured =
    flags.console === undefined
      ? measuredByCloudWatch(metricReader(metrics, options.hours, Date.now()))
      : await measuredByConsole(flags.console);
  const onProgress = (line: string) => printError(line);
  const endpoint = flags['dynamodb-endpoint'] ?? flags.endpoint;
  const { kinesis, dynamodb, cloudwatch } = clients;
  const isAccount = flags.app === undefined;
  const observed = await observe(resources, { kinesis, dynamodb, ...(isAccount && { cloudwatch }) }, measured, {
    ...options,
    scan: flags.scan,
    endpoint,
    onProgress,
  });
  const missing = [...observed.missing, ...(flags.scan ? [] : itemsNotRead(resources))];
  const found = diagnose({ ...observed, missing }, options);
  const unsharded = observed.unsharded.length;
  const looked = [
    counted(streams.length, 'stream'),
    counted(shardings.length, 'sharded index or table', 'sharded indexes and tables'),
    counted(unsharded, 'table or index without shards', 'tables and indexes without shards'),
    counted(consumers.length, 'ordered consumer'),
    ...(keepers.length > 0 ? [counted(keepers.length, 'index keeper')] : []),
  ].join(', ');
  printFindings(found, looked, flags, observed.unsharded.flatMap(comparisonLines));
}

/** Only a scan finds items that no query returns. Without it, a stack with such items would look healthy. */
function itemsNotRead({ tables, shardings }: StackResources): Observations['missing'] {
  return tables
    .filter(({ name }) => shardings.some(({ config }) => config.tableName === name))
    .map(({ path }) => ({
      path,
      noun: 'the items that no query finds',
      why: 'only --scan reads the items',
      change: 'run doctor with --scan, which costs a read unit for each 8 KB of the table',
    }));
}

function printFindings(
  found: readonly Diagnosis[],
  looked: string,
  { json }: DoctorFlags,
  compared: readonly string[] = [],
): void {
  if (json) printText(JSON.stringify({ looked, compared, found }, null, 2));
  else print([...report(found, looked), ...(compared.length === 0 ? [] : ['', ...compared])]);
  if (found.some(({ weight }) => weight !== 'unknown')) process.exitCode = EXIT_FOUND;
  else if (found.length > 0) process.exitCode = EXIT_NOT_MEASURED;
}

/** The problems as a table, with the most serious problem first, and the change for each problem. */
function report(found: readonly Diagnosis[], looked: string): string[] {
  if (found.length === 0) return [`nothing to do; looked at ${looked}`];
  return [
    `${found.length} found, the most serious first; looked at ${looked}`,
    '',
    ...textTable(
      ['', 'weight', 'where', 'what'],
      found.map(({ weight, path, id }, index) => [index + 1, weight, path, id]),
    ),
    ...found.flatMap(({ path, what, change, measured = [], code, guide }, index) => [
      '',
      `${index + 1}. ${path}: ${what}`,
      ...measured.map((line) => `   ${line}`),
      `   change: ${change}`,
      ...(guide === undefined ? [] : [`   steps: ${guide}`]),
      ...(code === undefined ? [] : ['', ...code]),
    ]),
  ];
}

/** Permissions to read exactly these resources. IAM cannot limit reads of metrics to a resource. A local run has no metrics. */
function statementsFor(
  { streams, tables, shardings, consumers, keepers }: StackResources,
  { scan, app }: DoctorFlags,
  { sampleUnits }: Options,
): Statement[] {
  const arnOf = (name: string) => `arn:aws:dynamodb:*:*:table/${name}`;
  const sharded = [...new Set(shardings.map(({ config }) => arnOf(config.tableName)))];
  const all = [...new Set([...sharded, ...tables.map(({ name }) => arnOf(name))])];
  const counts = [...new Set(shardings.flatMap(({ config }) => countTablesOf(config)).map(arnOf))];
  const parking = [...new Set(consumers.map(({ tableName }) => arnOf(tableName)))];
  const named = tables.filter(({ template }) => template === undefined).map(({ name }) => arnOf(name));
  const kept = keepers.map(({ tableName }) => arnOf(tableName));
  const [ofTable, ofRule] = INSIGHT_ACTIONS;
  const statements: Statement[] = [
    {
      actions: ['kinesis:DescribeStreamSummary', 'kinesis:ListShards', ...(app === undefined ? CONSUMER_ACTIONS : [])],
      resources: streams.map(({ name }) => `arn:aws:kinesis:*:*:stream/${name}`),
    },
    { actions: ['dynamodb:DescribeTable'], resources: all },
    { actions: RECOVERY_ACTIONS, resources: named },
    { actions: ['dynamodb:GetItem'], resources: kept },
    { actions: ['dynamodb:Query'], resources: [...parking, ...kept, ...(scan ? counts : [])] },
    { actions: ['dynamodb:Scan'], resources: sampleUnits === undefined ? (scan ? sharded : []) : all },
  ];
  if (app === undefined) {
    const rules = all.length === 0 ? [] : ['arn:aws:cloudwatch:*:*:insight-rule/DynamoDBContributorInsights-*'];
    statements.push(
      { actions: [ofTable], resources: all.flatMap((arn) => [arn, `${arn}/index/*`]) },
      { actions: [ofRule], resources: rules },
      { actions: METRIC_ACTIONS, resources: ['*'] },
    );
  }
  return statements.filter(({ resources }) => resources.length > 0);
}
