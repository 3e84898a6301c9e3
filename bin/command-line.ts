import { constants } from 'node:os';
import { EvenShardsError } from '../lib/core/foundation/errors';
import { SEGMENTS_AT_ONCE, TABLES } from '../lib/core/foundation/function-environment';
import type { ShardedIndexConfig } from '../lib/core/sharded-index/config/sharded-index-config';
import { version } from '../package.json';
import { inFlagTerms, parsedFlags, UsageError } from './flags';
import type { LocalResource } from './local/assembly/deployment-plan';
import { findDynoxide } from './local/emulators/dynoxide';
import { unlessFailed } from './local/emulators/emulator-thread';
import { checkLoopback } from './local/emulators/running-emulator';
import { endWithLauncher } from './local/end-with-launcher';
import { FAULT_KINDS, FAULTY_SERVICES, parseFaults } from './local/limits/faults';
import type { GateOptions } from './local/limits/gates';
import { type LocalStack, startLocal } from './local/run-local';
import { runSample } from './local/sample';
import { InvalidInputError } from './local/sample/sample-error';
import { indexesOf, producersOf } from './local/sample/sample-targets';
import { FunctionLogs } from './local/window/function-logs';
import { startWindow, type Window } from './local/window/window-server';
import { plan } from './plan';
import { reshard } from './reshard';
import { simulate } from './simulate';

const HELP = `usage: even-shards <command> [options]

commands:
  local      run a synthesized CDK app on embedded Kinesis, DynamoDB and Lambda
  plan       how many shards a stream or an index needs, why, and what they cost
  reshard    which deployments take an index from its shard counts to others
  simulate   how evenly keys load shards, by each way to place them, now and after doublings

options:
  --help     show this text, or after a command, its own
  --version  show the version`;

const LOCAL_HELP = `usage: even-shards local [options]

Runs a synthesized CDK app on embedded Kinesis, DynamoDB and Lambda, sends it sample records, and reads them back.

options:
  --app DIRECTORY      the cloud assembly (default: cdk.out)
  --serve              no sample: stay up, serve the Lambda Invoke API and a page to watch, until interrupted
  --port NUMBER        port of the Lambda endpoint (default: a free one)
  --kinesis-endpoint URL   a Kinesis emulator that runs on this machine (default: kinesis-local, started here)
  --dynamodb-endpoint URL  a DynamoDB emulator that runs on this machine (default: started here, dynoxide if it is
                       installed, else dynalite)
  --dynalite           start dynalite although dynoxide is installed
  --json               print one line of JSON on stdout when ready; everything else goes to stderr
  --logs               show what the functions write, on stderr
  --limits [SCALE]     throttle as AWS does, shard by shard and partition key by partition key; 0.1 is a tenth of it
  --faults LIST        let calls go wrong, such as kinesis:lost-answer=1%,dynamodb:slow=2%
                       (${FAULTY_SERVICES.join(', ')}: ${FAULT_KINDS.join(', ')})
  --seed NUMBER        which calls go wrong (default: 1)
  --help               show this text

options of the sample, which --serve leaves out:
  --input FILE         newline-delimited JSON events instead of the built-in ones; may be repeated
  --partition-key NAME the field of an event that holds its partition key; required with --input
  --id NAME            the field that holds its item's table key; with it, events are written to a table and queried
  --sort NAME          the field that holds the sort key of the index; required with --id
  --value NAME         the field that holds the value of the index (default: an index over the whole table)`;

const COMMANDS: Readonly<Record<string, (args: string[]) => Promise<void>>> = {
  local,
  plan,
  reshard,
  simulate,
};

const LOCAL_OPTIONS = {
  app: { type: 'string', default: 'cdk.out' },
  help: { type: 'boolean', default: false },
  faults: { type: 'string' },
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
  seed: { type: 'string' },
  serve: { type: 'boolean', default: false },
  sort: { type: 'string' },
  value: { type: 'string' },
} as const;

/** Options that say nothing without another. */
const NEEDS = [
  ['seed', 'faults'],
  ['partition-key', 'input'],
  ['id', 'input'],
  ['sort', 'input'],
  ['value', 'input'],
  ['input', 'partition-key'],
  ['id', 'sort'],
  ['sort', 'id'],
  ['value', 'id'],
] as const;

async function main([command, ...args]: string[]): Promise<void> {
  if (command === undefined) throw new UsageError('no command given', 'even-shards');
  if (command === '--version') return console.log(version);
  if (command === '--help') return console.log(HELP);
  if (!Object.hasOwn(COMMANDS, command)) {
    const kind = command.startsWith('-') ? 'option' : 'command';
    throw new UsageError(`unknown ${kind} ${command}`, 'even-shards');
  }
  await COMMANDS[command]!(args);
}

async function local(args: string[]): Promise<void> {
  const flags = localFlags(args);
  if (flags.help) return console.log(LOCAL_HELP);
  const print = flags.json ? console.error : console.log;
  // The window watches what passes, limited or not.
  const gates = gateOptions(flags) ?? (flags.serve ? {} : undefined);
  const logs = new FunctionLogs();
  let report = (): void => {};
  endOnSignals(() => report());
  if (flags.serve) endWithLauncher();

  const stack = await startLocal({
    app: flags.app,
    port: wholeNumber('port', flags.port, MAX_PORT),
    kinesisEndpoint: flags['kinesis-endpoint'],
    dynamodbEndpoint: flags['dynamodb-endpoint'],
    dynoxide: flags.dynalite ? undefined : findDynoxide(),
    gates,
    onProgress: print,
    onFunctionLog: (path, line) => {
      logs.sink(path, line);
      if (flags.logs) console.error(`[${path}] ${line}`);
    },
  });
  report = () => {
    for (const line of stack.gates?.report() ?? []) print(line);
  };
  const window = flags.serve ? await startWindow(stack, stack.gates!, logs) : undefined;
  if (flags.json) console.log(readyLine(stack, window));
  if (window !== undefined) print(examples(stack, window).join('\n'));
  const { input = [], 'partition-key': partitionKey, ...sample } = flags;
  const run = flags.serve ? stack.failure : runSample(stack, { ...sample, input, partitionKey, print });
  await unlessFailed(run, stack.failure);
  report();
  await stack.stop();
}

function localFlags(args: string[]) {
  const flags = parsedFlags('even-shards local', { args: args.flatMap(withScale), options: LOCAL_OPTIONS }).values;
  if (flags.help) return flags;
  if (flags.serve && flags.input !== undefined) {
    throw new UsageError('--serve runs no sample, so it takes no --input', 'even-shards local');
  }
  for (const [option, needed] of NEEDS) {
    if (flags[option] !== undefined && flags[needed] === undefined) {
      throw new UsageError(`--${option} needs --${needed}`, 'even-shards local');
    }
  }
  for (const [field, endpoint] of [
    ['kinesisEndpoint', flags['kinesis-endpoint']],
    ['dynamodbEndpoint', flags['dynamodb-endpoint']],
  ] as const) {
    if (endpoint !== undefined) inFlagTerms('even-shards local', () => checkLoopback(field, endpoint));
  }
  return flags;
}

/** `--limits` may stand alone. */
function withScale(arg: string, index: number, args: readonly string[]): string[] {
  const isAlone = arg === '--limits' && (args[index + 1] ?? '--').startsWith('--');
  return [isAlone ? '--limits=1' : arg];
}

/** Undefined if nothing is to stand between clients and emulators. */
function gateOptions({
  limits,
  faults,
  seed,
}: {
  limits?: string;
  faults?: string;
  seed?: string;
}): GateOptions | undefined {
  if (limits === undefined && faults === undefined) return undefined;
  return {
    limits: limits === undefined ? undefined : scaleOf(limits),
    faults: faults === undefined ? undefined : inFlagTerms('even-shards local', () => parseFaults(faults)),
    seed: seed === undefined ? undefined : wholeNumber('seed', seed, MAX_SEED),
  };
}

function scaleOf(text: string): number {
  const scale = Number(text);
  if (text.trim() !== '' && Number.isFinite(scale) && scale > 0) return scale;
  throw new UsageError(`--limits must be a number above 0, got "${text}"`, 'even-shards local');
}

/** What 32 bits hold. */
const MAX_SEED = 4_294_967_295;
const MAX_PORT = 65_535;

function wholeNumber(flag: string, text: string, most: number): number {
  const number = Number(text);
  if (/^\d+$/.test(text) && number <= most) return number;
  throw new UsageError(`--${flag} must be a whole number from 0 to ${most}, got "${text}"`, 'even-shards local');
}

/** Everything runs in threads of this process: its end is the end of them all. */
function endOnSignals(report: () => void): void {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      report();
      process.exit(128 + constants.signals[signal]);
    });
  }
}

/**
 * Whoever reads the output may stop, as head(1) does: then this process ends as SIGPIPE would end it, without a word. Where
 * the output cannot be written, as on a full disk, it ends with a word on what is left.
 */
function endWithoutOutput(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EPIPE') process.exit(141);
      if (stream === process.stdout) console.error(`even-shards: cannot write to standard output: ${error.message}`);
      process.exit(1);
    });
  }
}

function readyLine({ endpoints, functions, streams, tables }: LocalStack, window?: Window): string {
  return JSON.stringify({
    ready: true,
    endpoints,
    window: window?.url,
    functions: namesByPath(functions),
    streams: namesByPath(streams),
    tables: namesByPath(tables),
  });
}

function namesByPath(resources: readonly LocalResource[]): Record<string, string> {
  return Object.fromEntries(resources.map(({ path, name }) => [path, name]));
}

function examples(stack: LocalStack, window: Window): string[] {
  // Version 1 of the AWS CLI does not look at AWS_REGION.
  const environment = 'AWS_ACCESS_KEY_ID=local AWS_SECRET_ACCESS_KEY=local AWS_DEFAULT_REGION=us-east-1';
  const payloads = new Map<string, object>([
    ...indexesOf(stack).map(({ functionPath, name, config }) => [functionPath, samplePayload(name, config)] as const),
    ...producersOf(stack).map(({ functionPath }) => [functionPath, SAMPLE_RECORDS] as const),
    ...stack.functions.flatMap(({ path, environment }): [string, object][] => {
      const [table] = Object.keys(JSON.parse(environment[TABLES] ?? '{}'));
      if (table !== undefined) return [[path, { table, value: 'a' }]];
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
    '# with the AWS CLI, version 1 or 2',
    `echo '{}' | ${environment} aws lambda invoke --endpoint-url ${lambda} \\`,
    '  --function-name NAME --payload fileb:///dev/stdin /dev/stdout',
  ];
}

const SAMPLE_RECORDS = { records: [{ partitionKey: 'account-1', data: 'hello' }] };

/** What the state machine of a resharding sends for an audit. */
const SAMPLE_SEGMENT = { segment: 0, totalSegments: 1, request: { mode: 'audit' } };

function samplePayload(index: string, { valueAttribute, shards }: ShardedIndexConfig): object {
  const [value = 'a'] = Object.keys(shards.byValue ?? {});
  return valueAttribute === undefined ? { index } : { index, value };
}

// The bundled SDK runs on this version of Node.js; its warning is about versions of the SDK to come.
process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED = 'true';

endWithoutOutput();
main(process.argv.slice(2)).catch((error) => {
  console.error(error instanceof EvenShardsError ? `even-shards: ${error.problem}` : error);
  process.exit(error instanceof UsageError || error instanceof InvalidInputError ? 2 : 1);
});
