import { EvenShardsError } from '../lib/core/kernel/errors';
import { IncompleteAnswerError } from '../lib/core/kernel/incomplete-answer-error';
import { QueryRejectedError } from '../lib/core/sharded-index/config/sharded-index-errors';
import { version } from '../package.json';
import { AccountError } from './deployed-stack/account-error';
import { EXIT_BROKEN } from './exit-broken';
import { UsageError } from './flags';
import { InvalidInputError } from './invalid-input-error';
import { print, printText } from './print';

interface Command {
  readonly summary: string;
  run(args: string[]): Promise<void>;
}

/** Each command has its own folder in bin, and is loaded when it is called. */
const COMMANDS: Readonly<Record<string, Command>> = {
  check: {
    run: (args) => (require('./check') as typeof import('./check')).check(args),
    summary: 'compare an app with its deployed stacks, and show what a deployment would break',
  },
  cql: {
    run: (args) => (require('./cql') as typeof import('./cql')).cql(args),
    summary: 'print the CREATE TABLE of each Amazon Keyspaces table of an app',
  },
  doctor: {
    run: (args) => (require('./doctor') as typeof import('./doctor')).doctor(args),
    summary: 'find uneven, throttled or too costly parts of a stack, a table or a stream, and the change to make',
  },
  keys: {
    run: (args) => (require('./keys') as typeof import('./keys')).keys(args),
    summary: 'compute explicit hash keys that load shards evenly',
  },
  local: {
    run: (args) => (require('./local') as typeof import('./local')).local(args),
    summary: 'run a synthesized CDK app on embedded Kinesis, DynamoDB and Lambda',
  },
  parked: {
    run: (args) => (require('./parked') as typeof import('./parked')).parked(args),
    summary: 'list the parked keys of an ordered consumer; resume, skip or drop a key',
  },
  plan: {
    run: (args) => (require('./plan') as typeof import('./plan')).plan(args),
    summary: 'compute how many shards a stream or an index needs, and their cost',
  },
  put: {
    run: (args) => (require('./put') as typeof import('./put')).put(args),
    summary: 'put items into a deployed table, or records into a deployed stream',
  },
  query: {
    run: (args) => (require('./query') as typeof import('./query')).query(args),
    summary: 'read an ordered page of a deployed sharded index',
  },
  reshard: {
    run: (args) => (require('./reshard') as typeof import('./reshard')).reshard(args),
    summary: 'list the deployments that change shard counts; rows: move rows of Amazon Keyspaces',
  },
  shards: {
    run: (args) => (require('./shards') as typeof import('./shards')).shards(args),
    summary: 'list the shards of a stream, and check whether they are even',
  },
  simulate: {
    run: (args) => (require('./simulate') as typeof import('./simulate')).simulate(args),
    summary: 'simulate how evenly keys load shards, with each strategy',
  },
  tail: {
    run: (args) => (require('./tail') as typeof import('./tail')).tail(args),
    summary: 'print the records of a deployed stream as they arrive',
  },
};

const HELP = `usage: even-shards <command> [options]

commands:
${Object.entries(COMMANDS)
  .map(([name, { summary }]) => `  ${name.padEnd(10)} ${summary}`)
  .join('\n')}

options:
  --help     show this text, or the help of a command
  --version  show the version

exit code of every command: 0 if it succeeds, 1 if it fails, 2 if an argument or an input is invalid, 3 if a request to the account fails,
and ${EXIT_BROKEN} if the command has a bug or cannot run here; the help of a command lists its other codes`;

/** Runs the command that the arguments name. Throws a `UsageError` if the command does not accept the arguments. */
export async function runCommand([command, ...args]: string[]): Promise<void> {
  if (command === undefined) throw new UsageError('no command given', 'even-shards');
  if (command === '--version') return print(version);
  if (command === '--help') return printText(HELP);
  if (!Object.hasOwn(COMMANDS, command)) {
    const kind = command.startsWith('-') ? 'option' : 'command';
    throw new UsageError(`unknown ${kind} ${command}`, 'even-shards');
  }
  await COMMANDS[command]!.run(args);
}

/**
 * The exit code for an error of a command: 3 if a request to the account failed or its response was incomplete, and 2 if the arguments
 * are invalid. A bug of the command has its own code.
 */
export function exitCodeOf(error: unknown): number {
  if (!(error instanceof EvenShardsError)) return EXIT_BROKEN;
  const ofAccount = [AccountError, IncompleteAnswerError, QueryRejectedError];
  if (ofAccount.some((kind) => error instanceof kind)) return 3;
  return error instanceof UsageError || error instanceof InvalidInputError ? 2 : 1;
}
