import { type CassandraAddress, cassandraAddress } from '../cassandra/connect';
import { inFlagTerms, parsedFlags, UsageError } from '../flags';
import { checkLoopback, isLoopback } from './emulators/running-emulator';
import type { GateOptions } from './limits/gates';

const COMMAND = 'even-shards local';

export const LOCAL_HELP = `usage: even-shards local [options] [-- COMMAND...]

Runs a synthesized CDK app on embedded Kinesis, DynamoDB and Lambda, sends it sample records, and reads them back.
With a command, it runs that in place of the sample: its SDK finds the local services, and it has a variable with the configuration of
each sharded index and table (BY_STATUS), and one with the name of each function (QUERY of Orders/Query/Function).

options:
  --app DIRECTORY      the cloud assembly (default: cdk.out)
  --serve              no sample: stay up, serve the Lambda Invoke API and a page to watch, until interrupted
  --port NUMBER        port of the Lambda endpoint (default: a free one)
  --kinesis-endpoint URL   a Kinesis emulator that runs on this machine (default: kinesis-local, started here)
  --dynamodb-endpoint URL  a DynamoDB emulator that runs on this machine (default: started here, dynoxide if it is
                       installed, else dynalite)
  --cassandra HOST:PORT    a Cassandra that runs on this machine: the app's tables of Amazon Keyspaces are made there, if they
                       are not there yet, and functions and the page read them (default: those tables are left out)
  --dynalite           start dynalite although dynoxide is installed
  --json               print one line of JSON on stdout when ready; everything else goes to stderr
  --logs               show what the functions write, on stderr
  --limits [SCALE]     throttle as AWS does, shard by shard and partition key by partition key; 0.1 is a tenth of it
  --help               show this text

options of the sample, which --serve leaves out:
  --input FILE         newline-delimited JSON events instead of the built-in ones; may be repeated
  --partition-key NAME the field of an event that holds its partition key; required with --input
  --id NAME            the field that holds its item's table key; with it, events are written to a table and queried
  --sort NAME          the field that holds the sort key of the index; required with --id
  --value NAME         the field that holds the value of the index (default: an index over the whole table)`;

const OPTIONS = {
  app: { type: 'string', default: 'cdk.out' },
  cassandra: { type: 'string' },
  help: { type: 'boolean', default: false },
  id: { type: 'string' },
  input: { type: 'string', multiple: true },
  json: { type: 'boolean', default: false },
  limits: { type: 'string' },
  logs: { type: 'boolean', default: false },
  dynalite: { type: 'boolean', default: false },
  'dynamodb-endpoint': { type: 'string' },
  'kinesis-endpoint': { type: 'string' },
  'partition-key': { type: 'string' },
  port: { type: 'string', default: '0' },
  serve: { type: 'boolean', default: false },
  sort: { type: 'string' },
  value: { type: 'string' },
} as const;

/** Options that have no meaning without another one. */
const NEEDS = [
  ['partition-key', 'input'],
  ['id', 'input'],
  ['sort', 'input'],
  ['value', 'input'],
  ['input', 'partition-key'],
  ['id', 'sort'],
  ['sort', 'id'],
  ['value', 'id'],
] as const;

/** The options that the command line gives. */
export function localFlags(args: string[], command?: readonly string[]) {
  const flags = parsedFlags(COMMAND, { args: args.flatMap(withScale), options: OPTIONS }).values;
  if (flags.help) return flags;
  if (flags.serve && flags.input !== undefined) {
    throw new UsageError('--serve runs no sample, so it takes no --input', COMMAND);
  }
  if (command !== undefined && (command.length === 0 || flags.serve || flags.json || flags.input !== undefined)) {
    throw new UsageError('-- needs a command behind it, and no --serve, --json or --input before it', COMMAND);
  }
  for (const [option, needed] of NEEDS) {
    if (flags[option] !== undefined && flags[needed] === undefined) {
      throw new UsageError(`--${option} needs --${needed}`, COMMAND);
    }
  }
  for (const [field, endpoint] of [
    ['kinesisEndpoint', flags['kinesis-endpoint']],
    ['dynamodbEndpoint', flags['dynamodb-endpoint']],
  ] as const) {
    if (endpoint !== undefined) inFlagTerms(COMMAND, () => checkLoopback(field, endpoint));
  }
  return flags;
}

/** The address of a Cassandra. It must be on this machine, because a local run must not write anywhere else. */
export function cassandraOf(text: string | undefined): CassandraAddress | undefined {
  if (text === undefined) return undefined;
  const address = cassandraAddress(COMMAND, text);
  if (isLoopback(address.host)) return address;
  throw new UsageError(`--cassandra must be on the loopback interface, such as 127.0.0.1:9042, got "${text}"`, COMMAND);
}

/** Adds the default scale to `--limits` without a value. */
function withScale(arg: string, index: number, args: readonly string[]): string[] {
  const isAlone = arg === '--limits' && (args[index + 1] ?? '--').startsWith('--');
  return [isAlone ? '--limits=1' : arg];
}

/** The options of gates; undefined if no gate is needed between clients and emulators. */
export function gateOptions({ limits }: { limits?: string }): GateOptions | undefined {
  return limits === undefined ? undefined : { limits: scaleOf(limits) };
}

function scaleOf(text: string): number {
  const scale = Number(text);
  if (text.trim() !== '' && Number.isFinite(scale) && scale > 0) return scale;
  throw new UsageError(`--limits must be a number above 0, got "${text}"`, COMMAND);
}

const MAX_PORT = 65_535;

export function portOf(text: string): number {
  const port = Number(text);
  if (/^\d+$/.test(text) && port <= MAX_PORT) return port;
  throw new UsageError(`--port must be a whole number from 0 to ${MAX_PORT}, got "${text}"`, COMMAND);
}
