import { DynamoDBDocument } from '@aws-sdk/lib-dynamodb';
import { EvenShardsError, InvalidArgumentError } from '../../lib/core/foundation/errors';
import { OrderedProducer } from '../../lib/core/producer/ordered-producer';
import type { ProducerRecord } from '../../lib/core/producer/producer-record';
import { shardPut } from '../../lib/core/sharded-index/write/shard-put';
import { countTablesOf, shardingOfNow } from '../deployed-stack/sharding-of-now';
import type { DeployedStream } from '../deployed-stack/stack-resources';
import {
  chosen,
  policyText,
  type Statement,
  TARGET_HELP,
  TARGET_OPTIONS,
  type Target,
  withTarget,
} from '../deployed-stack/target';
import { parsedFlags, UsageError } from '../flags';
import { InvalidInputError } from '../local/sample/sample-error';
import { type EventLine, userEvents } from '../local/sample/user-events';

const COMMAND = 'even-shards put';

const HELP = `usage: even-shards put TARGET --stack NAME (--item JSON | --input FILE) [options]

Puts items into a table, each with its shard of every sharded index, or records into a stream, in the order of each key. TARGET is
the construct path of a table or a stream or the end of it, the name that AWS knows it by, or the output of the stack that tells it.

  --item JSON           one item, or the data of one record
  --input FILE          newline-delimited JSON instead, gzipped if named so; - is the standard input
  --partition-key NAME  of a stream: the field that holds the partition key of a record; required
  --json                print one JSON document for each record or item, on a line of its own
  --help                show this text

${TARGET_HELP}

exit code: 0 if all is stored; 1 if something is not, with the first reason on stderr.

example: even-shards put Orders --stack Shop --item '{"orderId":"17","status":"pending","createdAt":"2026-11-01"}'`;

const OPTIONS = {
  ...TARGET_OPTIONS,
  help: { type: 'boolean', default: false },
  input: { type: 'string' },
  item: { type: 'string' },
  json: { type: 'boolean', default: false },
  'partition-key': { type: 'string' },
} as const;

interface PutFlags {
  readonly input?: string;
  readonly item?: string;
  readonly json: boolean;
  readonly 'partition-key'?: string;
  readonly permissions: boolean;
}

/** Something was not stored. What was stored before it stays. */
class NotStoredError extends EvenShardsError {
  constructor(stored: number, cause: Error) {
    super('NOT_STORED', `${stored} stored, then one was not: ${cause.message}`, {
      cause,
      summary: 'not all was stored',
    });
  }
}

/** `even-shards put`. */
export async function put(args: string[]): Promise<void> {
  const { values: flags, positionals } = parsedFlags(COMMAND, { args, options: OPTIONS, allowPositionals: true });
  if (flags.help) return console.log(HELP);
  const [name] = positionals;
  if (name === undefined || positionals.length > 1) throw new UsageError('name one table or stream', COMMAND);
  if (!flags.permissions && (flags.item === undefined) === (flags.input === undefined)) {
    throw new UsageError('give either --item or --input', COMMAND);
  }
  await withTarget(COMMAND, flags, async (target) => {
    const { streams, tables } = target.resources;
    const { path } = chosen(COMMAND, 'a table or a stream', [...tables, ...streams], name);
    const stream = streams.find((each) => each.path === path);
    if (stream === undefined) await putItems(target, path, flags);
    else await putRecords(target, stream, flags);
  });
}

async function putItems(target: Target, path: string, flags: PutFlags): Promise<void> {
  const { tables, shardings } = target.resources;
  const { name } = tables.find((table) => table.path === path)!;
  const declared = shardings.map(({ config }) => config).filter(({ tableName }) => tableName === name);
  const table = `arn:aws:dynamodb:*:*:table/${name}`;
  const counts = declared.flatMap(countTablesOf).map((counts) => `arn:aws:dynamodb:*:*:table/${counts}`);
  const statements: Statement[] = [
    { actions: ['dynamodb:DescribeTable', 'dynamodb:PutItem'], resources: [table] },
    ...(counts.length > 0 ? [{ actions: ['dynamodb:GetItem', 'dynamodb:Query'], resources: counts }] : []),
  ];
  if (flags.permissions) return console.log(policyText([...target.statements, ...statements]));
  const { dynamodb } = target.clients;
  const documents = DynamoDBDocument.from(dynamodb);
  const indexes = await Promise.all(declared.map((config) => shardingOfNow(dynamodb, config)));
  let stored = 0;
  for await (const { event, file, line } of linesOf(flags)) {
    const configs = await Promise.all(indexes.map((index) => index.forWriting()));
    try {
      const input = configs.length === 0 ? { TableName: name, Item: event } : shardPut(configs, event);
      await documents.put(input);
      stored += 1;
      if (flags.json) console.log(JSON.stringify(input.Item));
    } catch (error) {
      if (stored === 0 && error instanceof InvalidArgumentError)
        throw new InvalidInputError(`${file}, line ${line}: ${error.problem}`);
      if (stored === 0) throw error;
      throw new NotStoredError(stored, error as Error);
    }
  }
  if (!flags.json) console.log(`${stored} ${stored === 1 ? 'item' : 'items'} put into ${path}`);
}

async function putRecords(target: Target, { path, name, hashBuckets }: DeployedStream, flags: PutFlags): Promise<void> {
  const stream = `arn:aws:kinesis:*:*:stream/${name}`;
  const statements = [{ actions: ['kinesis:ListShards', 'kinesis:PutRecords'], resources: [stream] }];
  if (flags.permissions) return console.log(policyText([...target.statements, ...statements]));
  const { 'partition-key': partitionKey } = flags;
  if (partitionKey === undefined) throw new UsageError('give --partition-key: a record of a stream has one', COMMAND);
  const producer = new OrderedProducer(target.clients.kinesis, {
    streamName: name,
    ...(hashBuckets !== undefined && { hashBuckets }),
  });
  const shards = new Map<string, number>();
  const summary = await producer.putAll(recordsOf(flags, partitionKey), {
    delivered(_, record, { shardId, sequenceNumber }) {
      shards.set(shardId, (shards.get(shardId) ?? 0) + 1);
      if (flags.json) console.log(JSON.stringify({ partitionKey: record.partitionKey, shardId, sequenceNumber }));
    },
  });
  await producer.close();
  const { delivered, firstRejection } = summary;
  if (!flags.json) {
    console.log(`${delivered} ${delivered === 1 ? 'record' : 'records'} put into ${path}`);
    for (const [shardId, count] of [...shards].sort()) console.log(`  ${shardId}: ${count}`);
  }
  if (firstRejection !== undefined) throw new NotStoredError(delivered, firstRejection.error);
}

async function* recordsOf(flags: PutFlags, partitionKey: string): AsyncGenerator<ProducerRecord> {
  for await (const { event, file, line } of linesOf(flags)) {
    const key = event[partitionKey];
    if (typeof key !== 'string' && typeof key !== 'number') {
      throw new InvalidInputError(
        `${file}, line ${line}: ${partitionKey} must be a text or a number, for it is the partition key`,
      );
    }
    yield { partitionKey: String(key), data: Buffer.from(JSON.stringify(event)) };
  }
}

/** What the flags give to put, line by line. */
async function* linesOf({ item, input }: PutFlags): AsyncGenerator<Omit<EventLine, 'bytes'>> {
  if (item === undefined) yield* userEvents([input!]);
  else yield { event: itemOf(item), file: '--item', line: 1 };
}

function itemOf(text: string): Record<string, unknown> {
  try {
    const item: unknown = JSON.parse(text);
    if (typeof item === 'object' && item !== null && !Array.isArray(item)) return item as Record<string, unknown>;
  } catch {
    // It is said below.
  }
  throw new UsageError('--item must be a JSON object', COMMAND);
}
