import { readFileSync } from 'node:fs';
import { constants } from 'node:os';
import type { Client } from 'cassandra-driver';
import { InvalidCursorError } from '../../../lib/core/fan-out/fan-out-errors';
import { EvenShardsError } from '../../../lib/core/kernel/errors';
import {
  type CqlClient,
  findStrayRows,
  reshardRows,
  type ShardedKeyspacesConfig,
  type StrayRowsReport,
} from '../../../lib/core/keyspaces';
import { CassandraError, cassandraAddress, connectToCassandra, connectToKeyspaces } from '../../cassandra/connect';
import { tablesOfApp } from '../../cassandra/tables-of-app';
import { parsedFlags, positiveOf, UsageError } from '../../flags';
import { readCloudAssembly } from '../../local/assembly/cloud-assembly';
import { print, printError, printText } from '../../print';
import { countsLine, type RowsReport, rowsLine, sumOf } from './rows-report';
import { forgetState, keepState, stateOf } from './rows-state';

const COMMAND = 'even-shards reshard rows';

const HELP = `usage: even-shards reshard rows KEYSPACE.TABLE (--cassandra HOST:PORT | --region REGION) [options]

Moves each row of a table to the shard of the counts in a synthesized app. Use it after a change of a count, and to adopt the rows of another
client. Begin when all writers use these counts: after a deployment, wait for the longest timeout of a writer, at most 90 minutes on Lambda.
Earlier invocations still write to the earlier shards. A move consists of two conditional writes, so the command can run while writers and
readers work, and you can stop and repeat it at any time.

The command does not move a row if a client wrote one of its values with a timestamp in the future. Run the command again later. A row is
unverified if the database does not return the write time of each value: it moves without this check.

  --cassandra HOST:PORT  the address of a Cassandra without a password
  --region REGION        Amazon Keyspaces, with the credentials of the environment or of AWS_PROFILE
  --app DIRECTORY        the cloud assembly with the table (default: cdk.out)
  --config FILE          instead of KEYSPACE.TABLE, the configuration of a table without an app, in the form of toConfigJson()
  --moves-per-second N   maximum rows to move a second (default: no limit)
  --rows-per-second N    maximum rows to read a second (default: no limit)
  --segment I/N          part I of N parts of the table, from 0, for parallel runs (default: 0/1)
  --static-column NAME   a static column, which does not belong to a row; may be repeated
  --state FILE           save the progress in this file, and continue from it; the command deletes the file at the end
  --dry-run              only count the rows that would move
  --json                 print the report as one JSON document
  --help                 show this text

exit code: 0 if all rows are in their shards; 1 if rows remain because of concurrent writes or a timestamp in the future, or if a
request fails; 2 if an argument is invalid; 128 plus the number of the signal that stopped the command.

example: even-shards reshard rows tracker.blogs --region eu-west-1 --moves-per-second 100 --state blogs.state`;

const OPTIONS = {
  app: { type: 'string', default: 'cdk.out' },
  cassandra: { type: 'string' },
  config: { type: 'string' },
  'dry-run': { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
  json: { type: 'boolean', default: false },
  'moves-per-second': { type: 'string' },
  region: { type: 'string' },
  'rows-per-second': { type: 'string' },
  segment: { type: 'string', default: '0/1' },
  state: { type: 'string' },
  'static-column': { type: 'string', multiple: true },
} as const;

const EXIT_REFUSED = 1;

/** The interval of progress messages. */
const PROGRESS_MS = 1_000;

type RowsClient = CqlClient & Pick<Client, 'shutdown'>;

/** Connects to the Cassandra database or the AWS Region that the flags name. */
type Connect = (cassandra: string | undefined, region: string | undefined) => Promise<RowsClient>;

/** `even-shards reshard rows`. */
export async function reshardRowsOfTable(args: string[], connect: Connect = connectTo): Promise<void> {
  const { values: flags, positionals } = parsedFlags(COMMAND, { args, options: OPTIONS, allowPositionals: true });
  if (flags.help) return printText(HELP);
  if ((flags.cassandra === undefined) === (flags.region === undefined)) {
    throw new UsageError('give --cassandra or --region, and not both', COMMAND);
  }
  const config = configOf(positionals, flags);
  const { keyspaceName, tableName } = config;
  const table = `${keyspaceName}.${tableName}`;
  const state = stateOf(COMMAND, flags.state);
  const stopped = new AbortController();
  let toldMs = performance.now();
  const onProgress = (report: StrayRowsReport): void => {
    const all = sumOf(state, report);
    if (flags.state !== undefined) keepState(flags.state, all);
    if (performance.now() - toldMs < PROGRESS_MS) return;
    toldMs = performance.now();
    printError(`${table}: ${rowsLine(all)}`);
  };
  const scan = {
    ...segmentOf(flags.segment),
    rowsPerSecond: positiveOf(COMMAND, 'rows-per-second', flags['rows-per-second']),
    resumeFrom: state?.resumePoint,
    signal: stopped.signal,
    onProgress,
  };
  const movesPerSecond = positiveOf(COMMAND, 'moves-per-second', flags['moves-per-second']);
  const moves = { ...scan, movesPerSecond, staticColumns: flags['static-column'] };
  const client = await connect(flags.cassandra, flags.region);
  const release = stopOnSignals(stopped);
  printError(`${table}: ${countsLine(config)}`);
  try {
    const run = flags['dry-run'] ? findStrayRows(client, config, scan) : reshardRows(client, config, moves);
    const report = await run.catch((error) => {
      throw explained(error, table, flags.state);
    });
    end(table, sumOf(state, report), flags, stopped.signal);
  } finally {
    release();
    await client.shutdown();
  }
}

function end(
  table: string,
  report: RowsReport,
  { state, json }: { state?: string; json: boolean },
  { reason }: AbortSignal,
): void {
  if (state !== undefined) report.resumePoint === undefined ? forgetState(state) : keepState(state, report);
  if (json) printText(JSON.stringify({ table, complete: report.resumePoint === undefined, ...report }, undefined, 2));
  else print(`${table}: ${rowsLine(report)}`);
  if (report.resumePoint !== undefined) {
    const again =
      state === undefined ? 'run the command again: moved rows stay moved' : 'run the command again to continue';
    printError(`stopped before the end; ${again}`);
    process.exitCode = 128 + constants.signals[reason as NodeJS.Signals];
  } else if ((report.outcomes?.refused ?? 0) > 0) process.exitCode = EXIT_REFUSED;
}

/** Explains an error in terms of the command line. */
function explained(error: unknown, table: string, state: string | undefined): unknown {
  if (error instanceof InvalidCursorError) {
    const problem = `--state ${state} belongs to another table, other counts, another segment, another partitioner, or a run with another --dry-run: name another file, or delete it to start again`;
    return new UsageError(problem, COMMAND);
  }
  return error instanceof EvenShardsError ? error : new CassandraError(`cannot continue with ${table}`, error);
}

/** The first signal stops the run so that it can continue later. The second signal ends the process. */
function stopOnSignals(stopped: AbortController): () => void {
  const signals = ['SIGINT', 'SIGTERM'] as const;
  const stop = (signal: NodeJS.Signals): void => {
    release();
    stopped.abort(signal);
  };
  const release = (): void => {
    for (const signal of signals) process.off(signal, stop);
  };
  for (const signal of signals) process.on(signal, stop);
  return release;
}

function connectTo(cassandra: string | undefined, region: string | undefined): Promise<RowsClient> {
  return cassandra === undefined
    ? connectToKeyspaces(region!)
    : connectToCassandra(cassandraAddress(COMMAND, cassandra));
}

function configOf(
  positionals: readonly string[],
  { app, config }: { app: string; config?: string },
): ShardedKeyspacesConfig {
  if (config !== undefined) {
    if (positionals.length > 0) throw new UsageError('--config names the table: leave KEYSPACE.TABLE out', COMMAND);
    return configOfFile(config);
  }
  const [name, ...others] = positionals;
  if (name === undefined || others.length > 0) throw new UsageError('give KEYSPACE.TABLE', COMMAND);
  const configs = tablesOfApp(readCloudAssembly(app)).flatMap((table) => table.config ?? []);
  const named = (each: ShardedKeyspacesConfig) => `${each.keyspaceName}.${each.tableName}`;
  const found = configs.find((each) => named(each) === name);
  if (found !== undefined) return found;
  const known = configs.length === 0 ? 'no sharded table' : configs.map(named).join(', ');
  throw new UsageError(`${app} declares ${known} of Amazon Keyspaces, and not "${name}"`, COMMAND);
}

function configOfFile(file: string): ShardedKeyspacesConfig {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new UsageError(`--config must be a file with JSON: ${(error as Error).message}`, COMMAND);
  }
}

function segmentOf(text: string): { segment: number; totalSegments: number } {
  const [, segment, totalSegments] = /^(\d{1,7})\/(\d{1,7})$/.exec(text)?.map(Number) ?? [];
  if (segment !== undefined && totalSegments! <= 1_000_000 && segment < totalSegments!)
    return { segment, totalSegments: totalSegments! };
  throw new UsageError(
    `--segment must be I/N, such as 0/4, with I below N and N at most 1000000, got "${text}"`,
    COMMAND,
  );
}
