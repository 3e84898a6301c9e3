import { IncompleteAnswerError } from '../lib/core/kernel/incomplete-answer-error';
import { version } from '../package.json';
import { AccountError } from './deployed-stack/account-error';
import { UsageError } from './flags';
import { InvalidInputError } from './invalid-input-error';
import { print, printText } from './print';

interface Command {
  readonly summary: string;
  run(args: string[]): Promise<void>;
}

/** Each command has a room of its own under bin, and is loaded when it is called. */
const COMMANDS: Readonly<Record<string, Command>> = {
  check: {
    run: (args) => (require('./check') as typeof import('./check')).check(args),
    summary: 'what a deployment would do to what is deployed, before it is made',
  },
  cql: {
    run: (args) => (require('./cql') as typeof import('./cql')).cql(args),
    summary: 'the CREATE TABLE of each Keyspaces table of an app',
  },
  doctor: {
    run: (args) => (require('./doctor') as typeof import('./doctor')).doctor(args),
    summary: 'what of a deployed stack is uneven, near a limit or costs too much, and the change to make',
  },
  keys: {
    run: (args) => (require('./keys') as typeof import('./keys')).keys(args),
    summary: 'the next explicit hash keys that load shards evenly, and the tree that they come from',
  },
  local: {
    run: (args) => (require('./local') as typeof import('./local')).local(args),
    summary: 'run a synthesized CDK app on embedded Kinesis, DynamoDB and Lambda',
  },
  parked: {
    run: (args) => (require('./parked') as typeof import('./parked')).parked(args),
    summary: 'the keys that an ordered consumer has set aside; resume, skip or drop one',
  },
  plan: {
    run: (args) => (require('./plan') as typeof import('./plan')).plan(args),
    summary: 'how many shards a stream or an index needs, why, and what they cost',
  },
  put: {
    run: (args) => (require('./put') as typeof import('./put')).put(args),
    summary: 'put items into a table, or records into a stream, of what is deployed',
  },
  query: {
    run: (args) => (require('./query') as typeof import('./query')).query(args),
    summary: 'one ordered page of a sharded index of what is deployed',
  },
  reshard: {
    run: (args) => (require('./reshard') as typeof import('./reshard')).reshard(args),
    summary: 'which deployments take an index from its shard counts to others; rows: move rows',
  },
  shards: {
    run: (args) => (require('./shards') as typeof import('./shards')).shards(args),
    summary: 'the shards of a stream, their hash keys, and how even they are',
  },
  simulate: {
    run: (args) => (require('./simulate') as typeof import('./simulate')).simulate(args),
    summary: 'how evenly keys load shards, by each way to place them, now and after doublings',
  },
  tail: {
    run: (args) => (require('./tail') as typeof import('./tail')).tail(args),
    summary: 'the records of a stream of what is deployed, in order, as they come',
  },
};

const HELP = `usage: even-shards <command> [options]

commands:
${Object.entries(COMMANDS)
  .map(([name, { summary }]) => `  ${name.padEnd(10)} ${summary}`)
  .join('\n')}

options:
  --help     show this text, or after a command, its own
  --version  show the version`;

/** Runs the command that the arguments name. Arguments that it does not accept throw a `UsageError`. */
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

/** The exit code for an error of a command: 3 if the account failed or returned a part, 2 if the arguments were wrong. */
export function exitCodeOf(error: unknown): number {
  if (error instanceof AccountError || error instanceof IncompleteAnswerError) return 3;
  return error instanceof UsageError || error instanceof InvalidInputError ? 2 : 1;
}
