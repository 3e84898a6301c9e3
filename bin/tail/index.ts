import { constants } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DeployedStream } from '../deployed-stack/stack-resources';
import { chosen, policyText, TARGET_HELP, TARGET_OPTIONS, type Target, withTarget } from '../deployed-stack/target';
import { parsedFlags, positiveOf, UsageError } from '../flags';
import { counted, cutShort, printable } from '../plain-text';
import { print, printError, printText } from '../print';
import type { ReadStart } from '../stream-shards/shard-reader';
import { TAIL_ACTIONS, type TailRecord, tailStream } from './tail-stream';

const COMMAND = 'even-shards tail';

const HELP = `usage: even-shards tail [STREAM] --stack NAME [options]

Prints the records of a stream as they arrive, each with its shard. The records of a shard are in order, and come before the records of
its child shards. Aggregates are split into user records. STREAM is its construct path, the end of this path, its name, or an output of
the stack. STREAM is optional if the stack has only one. The command uses a part of the read limits that polling consumers share.

  --key KEY         only the records of this partition key; may be repeated
  --since MINUTES   begin with the records of the last minutes (default: only new records)
  --from-start      begin with the oldest stored record
  --once            end when all records are read
  --limit NUMBER    end after this number of records
  --json            print one line of JSON for each record
  --help            show this text

${TARGET_HELP}

Ctrl-C ends the command, and prints the number of records, keys and shards on stderr.

example: even-shards tail --stack Orders --key account-17 --since 60`;

const OPTIONS = {
  ...TARGET_OPTIONS,
  'from-start': { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
  json: { type: 'boolean', default: false },
  key: { type: 'string', multiple: true },
  limit: { type: 'string' },
  once: { type: 'boolean', default: false },
  since: { type: 'string' },
} as const;

interface TailFlags {
  readonly 'from-start': boolean;
  readonly json: boolean;
  readonly key?: string[];
  readonly limit?: string;
  readonly once: boolean;
  readonly permissions: boolean;
  readonly since?: string;
}

/** `even-shards tail`. */
export async function tail(args: string[]): Promise<void> {
  const { values: flags, positionals } = parsedFlags(COMMAND, { args, options: OPTIONS, allowPositionals: true });
  if (flags.help) return printText(HELP);
  if (positionals.length > 1) throw new UsageError('name one stream', COMMAND);
  const start = startOf(flags);
  const limit = positiveOf(COMMAND, 'limit', flags.limit) ?? Number.POSITIVE_INFINITY;
  await withTarget(COMMAND, flags, async (target) => {
    const stream = chosen(COMMAND, 'a stream', target.resources.streams, positionals[0]);
    if (flags.permissions) {
      const own = { actions: TAIL_ACTIONS, resources: [`arn:aws:kinesis:*:*:stream/${stream.name}`] };
      return printText(policyText([...target.statements, own]));
    }
    await follow(target, stream, { ...flags, start, limit });
  });
}

function startOf({ since, 'from-start': fromStart }: TailFlags): ReadStart {
  const minutes = positiveOf(COMMAND, 'since', since);
  if (minutes !== undefined && fromStart) throw new UsageError('give --since or --from-start', COMMAND);
  if (minutes !== undefined) return new Date(Date.now() - minutes * 60_000);
  return fromStart ? 'TRIM_HORIZON' : 'LATEST';
}

async function follow(
  { clients }: Target,
  { name, path }: DeployedStream,
  { start, limit, once, key, json }: Omit<TailFlags, 'limit'> & { start: ReadStart; limit: number },
): Promise<void> {
  // Without an endpoint for a local run, this client throws a usage error. The error must come before any other output.
  const { kinesis } = clients;
  const end = new AbortController();
  const stop = (signal: 'SIGINT' | 'SIGTERM') => {
    process.exitCode = 128 + constants.signals[signal];
    end.abort();
  };
  process.once('SIGINT', stop).once('SIGTERM', stop);
  const wanted = key && new Set(key);
  const keys = new Set<string>();
  const shards = new Set<string>();
  let records = 0;
  printError(`reading ${path}${once ? '' : '; end with Ctrl-C'}`);
  try {
    const all = tailStream(kinesis, {
      streamName: name,
      start,
      once,
      signal: end.signal,
      wait: (ms) => sleep(ms, undefined, { signal: end.signal }).catch(() => {}),
      onShard: (shardId) => shards.add(shardId),
    });
    for await (const record of all) {
      if (end.signal.aborted) break;
      if (wanted !== undefined && !wanted.has(record.partitionKey)) continue;
      print(json ? JSON.stringify(jsonOf(record)) : lineOf(record));
      keys.add(record.partitionKey);
      records += 1;
      if (records >= limit) break;
    }
  } finally {
    process.removeListener('SIGINT', stop).removeListener('SIGTERM', stop);
    printError(
      `read ${counted(records, 'record')} of ${counted(keys.size, 'key')} from ${counted(shards.size, 'shard')}`,
    );
  }
}

const LONGEST_DATA = 200;

function lineOf({ shardId, sequenceNumber, partitionKey, data }: TailRecord): string {
  const shown = cutShort(printable(Buffer.from(data).toString()), LONGEST_DATA);
  return `${shardId}  ${sequenceNumber}  ${partitionKey}  ${shown}`;
}

/** Data that is not valid text becomes base64. */
function jsonOf({ data, arrivedAt, ...place }: TailRecord): object {
  const bytes = Buffer.from(data);
  const text = bytes.toString();
  const isText = Buffer.from(text).equals(bytes);
  return { ...place, arrivedAt, ...(isText ? { data: text } : { dataBase64: bytes.toString('base64') }) };
}
