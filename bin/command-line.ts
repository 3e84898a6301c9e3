import { EvenShardsError } from '../lib/core/foundation/errors';
import { version } from '../package.json';
import { check } from './check';
import { cql } from './cql';
import { AccountError } from './deployed-stack/account-error';
import { doctor } from './doctor';
import { UsageError } from './flags';
import { keys } from './keys';
import { local } from './local';
import { InvalidInputError } from './local/sample/sample-error';
import { parked } from './parked';
import { plan } from './plan';
import { put } from './put';
import { query } from './query';
import { reshard } from './reshard';
import { shards } from './shards';
import { simulate } from './simulate';
import { tail } from './tail';

interface Command {
  readonly summary: string;
  run(args: string[]): Promise<void>;
}

/** Each command is a room of its own under bin. */
const COMMANDS: Readonly<Record<string, Command>> = {
  check: { run: (args) => check(args), summary: 'what a deployment would do to what is deployed, before it is made' },
  cql: { run: cql, summary: 'the CREATE TABLE of each Keyspaces table of an app' },
  doctor: {
    run: (args) => doctor(args),
    summary: 'what of a deployed stack is uneven, near a limit or costs too much, and the change to make',
  },
  keys: { run: keys, summary: 'the next explicit hash keys that load shards evenly, and the tree that they come from' },
  local: { run: local, summary: 'run a synthesized CDK app on embedded Kinesis, DynamoDB and Lambda' },
  parked: {
    run: (args) => parked(args),
    summary: 'the keys that an ordered consumer has set aside; resume, skip or drop one',
  },
  plan: { run: plan, summary: 'how many shards a stream or an index needs, why, and what they cost' },
  put: { run: put, summary: 'put items into a table, or records into a stream, of what is deployed' },
  query: { run: query, summary: 'one ordered page of a sharded index of what is deployed' },
  reshard: {
    run: reshard,
    summary: 'which deployments take an index from its shard counts to others; rows: move rows',
  },
  shards: { run: (args) => shards(args), summary: 'the shards of a stream, their hash keys, and how even they are' },
  simulate: {
    run: simulate,
    summary: 'how evenly keys load shards, by each way to place them, now and after doublings',
  },
  tail: { run: tail, summary: 'the records of a stream of what is deployed, in order, as they come' },
};

const HELP = `usage: even-shards <command> [options]

commands:
${Object.entries(COMMANDS)
  .map(([name, { summary }]) => `  ${name.padEnd(10)} ${summary}`)
  .join('\n')}

options:
  --help     show this text, or after a command, its own
  --version  show the version`;

async function main([command, ...args]: string[]): Promise<void> {
  if (command === undefined) throw new UsageError('no command given', 'even-shards');
  if (command === '--version') return console.log(version);
  if (command === '--help') return console.log(HELP);
  if (!Object.hasOwn(COMMANDS, command)) {
    const kind = command.startsWith('-') ? 'option' : 'command';
    throw new UsageError(`unknown ${kind} ${command}`, 'even-shards');
  }
  await COMMANDS[command]!.run(args);
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

function exitCodeOf(error: unknown): number {
  if (error instanceof AccountError) return 3;
  return error instanceof UsageError || error instanceof InvalidInputError ? 2 : 1;
}

// The bundled SDK runs on this version of Node.js; its warning is about versions of the SDK to come.
process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED = 'true';

endWithoutOutput();
main(process.argv.slice(2)).catch((error) => {
  console.error(error instanceof EvenShardsError ? `even-shards: ${error.problem}` : error);
  process.exit(exitCodeOf(error));
});
