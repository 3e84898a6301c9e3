import { type CassandraAddress, cassandraAddress } from '../cassandra/connect';
import { inFlagTerms, parsedFlags, UsageError } from '../flags';
import { isLoopback } from '../loopback-host';
import { checkLoopback } from './emulators/running-emulator';
import type { GateOptions } from './limits/gates';

const COMMAND = 'even-shards local';

export const LOCAL_HELP = `usage: even-shards local [options] [-- COMMAND...]

Runs a synthesized CDK app on embedded Kinesis, DynamoDB and Lambda, sends it sample records, and reads them back.
With COMMAND, it runs the command instead of the sample. Environment variables point the command's SDK to the local services. Others contain
the configuration of each sharded index and table (BY_STATUS), and the name of each function (QUERY of Orders/Query/Function).

options:
  --app DIRECTORY      the cloud assembly (default: cdk.out)
  --serve              no sample: serve the Lambda Invoke API and the local console until interrupted
  --port NUMBER        port of the Lambda endpoint (default: a free port)
  --kinesis-endpoint URL   a Kinesis emulator on this machine (default: starts kinesis-local)
  --dynamodb-endpoint URL  a DynamoDB emulator on this machine (default: starts dynalite)
  --cassandra HOST:PORT    a Cassandra on this machine, for the app's tables of Amazon Keyspaces: creates missing tables, and
                       functions and the console read them (default: leaves these tables out)
  --json               print one line of JSON on stdout when ready, and everything else on stderr
  --logs               print the logs of the functions on stderr
  --strict             do not start if the run would differ from AWS: print each resource that it leaves out, each property
                       that it ignores and each variable that it does not set, and exit with code 1
  --limits [SCALE]     throttle each shard and each partition key as AWS does; 0.1 sets a tenth of the limits
  --help               show this text

options of the sample (without --serve):
  --input FILE         newline-delimited JSON events instead of the built-in ones; may be repeated
  --partition-key NAME the field of an event with its partition key; required with --input`;

const OPTIONS = {
  app: { type: 'string', default: 'cdk.out' },
  cassandra: { type: 'string' },
  help: { type: 'boolean', default: false },
  input: { type: 'string', multiple: true },
  json: { type: 'boolean', default: false },
  limits: { type: 'string' },
  logs: { type: 'boolean', default: false },
  'dynamodb-endpoint': { type: 'string' },
  'kinesis-endpoint': { type: 'string' },
  'partition-key': { type: 'string' },
  port: { type: 'string', default: '0' },
  serve: { type: 'boolean', default: false },
  strict: { type: 'boolean', default: false },
} as const;

/** Options that require another option. */
const NEEDS = [
  ['partition-key', 'input'],
  ['input', 'partition-key'],
] as const;

/** Parses the options of the command line. */
export function localFlags(args: string[], command?: readonly string[]) {
  const flags = parsedFlags(COMMAND, { args: args.flatMap(withScale), options: OPTIONS }).values;
  if (flags.help) return flags;
  if (flags.serve && flags.input !== undefined) {
    throw new UsageError('--input cannot be combined with --serve, which runs no sample', COMMAND);
  }
  if (command !== undefined && (command.length === 0 || flags.serve || flags.json || flags.input !== undefined)) {
    throw new UsageError(
      '-- must be followed by a command, and cannot be combined with --serve, --json or --input',
      COMMAND,
    );
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

/**
 * Parses the address of a Cassandra. The address must be on this machine, because a local run must not write to other
 * machines.
 */
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

/** The options of the gates. Undefined if the run needs no gates. */
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
  throw new UsageError(`--port must be an integer from 0 to ${MAX_PORT}, got "${text}"`, COMMAND);
}
