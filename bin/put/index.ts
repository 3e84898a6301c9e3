import { DynamoDBDocument } from '@aws-sdk/lib-dynamodb';
import { isRecord } from '../../lib/core/kernel/checks';
import { exactNumber } from '../../lib/core/kernel/decimal';
import { EvenShardsError, InvalidArgumentError } from '../../lib/core/kernel/errors';
import { OrderedProducer } from '../../lib/core/producer/ordered-producer';
import type { ProducerRecord } from '../../lib/core/producer/producer-record';
import { isTableConfig, type ShardedConfig } from '../../lib/core/sharded-index/config/sharded-index-config';
import { missingSortKey } from '../../lib/core/sharded-index/write/missing-sort-key';
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
import { InvalidInputError } from '../invalid-input-error';
import { counted, cutShort } from '../plain-text';
import { print, printError, printText } from '../print';
import { type EventLine, userEvents } from '../samples/user-events';

const COMMAND = 'even-shards put';

const HELP = `usage: even-shards put TARGET --stack NAME (--item JSON | --input FILE) [options]

Puts items into a table, with the shard attributes of all sharded indexes, or puts records into a stream, with the records of a key in
order. TARGET is the construct path of a table or a stream, the end of this path, its name in AWS, or an output of the stack.
An index does not contain items without its sort key. The command rejects such an item. For an index with sparse: true, it prints on
stderr how many items the index does not contain.

  --item JSON           one item, or the data of one record
  --input FILE          newline-delimited JSON, gzipped if named .gz; - is standard input
  --partition-key NAME  for a stream: the field with the partition key of a record; required
  --json                print one line of JSON for each record or item
  --help                show this text

${TARGET_HELP}

exit code: 0 if everything is stored; 1 if not, with the line and the reason on stderr.

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

/** An item or a record was not stored. All items or records before it are stored. */
class NotStoredError extends EvenShardsError {
  constructor(stored: number, reason: string, cause: Error) {
    super('NOT_STORED', `${stored} stored, but not all: ${reason}`, { cause, summary: 'not all was stored' });
  }
}

/**
 * Adds the number of stored items or records to an error, so that the user can put the remaining items or records.
 *
 * @param place the line that was not stored; undefined if the error names the line
 */
function notStored(stored: number, error: unknown, place?: string): unknown {
  if (stored === 0 || error instanceof NotStoredError) return error;
  return new NotStoredError(stored, reasonAt(place, error as Error), error as Error);
}

function reasonAt(place: string | undefined, error: Error): string {
  const reason = error instanceof EvenShardsError ? error.problem : error.message;
  return place === undefined ? reason : `${place}: ${reason}`;
}

function placeOf({ file, line }: EventLine): string {
  return `${file}, line ${line}`;
}

/** A record with its line in the input. */
interface PlacedRecord extends ProducerRecord {
  readonly place: string;
}

/** `even-shards put`. */
export async function put(args: string[]): Promise<void> {
  const { values: flags, positionals } = parsedFlags(COMMAND, { args, options: OPTIONS, allowPositionals: true });
  if (flags.help) return printText(HELP);
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
  if (flags.permissions) return printText(policyText([...target.statements, ...statements]));
  const { dynamodb } = target.clients;
  const documents = DynamoDBDocument.from(dynamodb);
  const indexes = await Promise.all(declared.map((config) => shardingOfNow(dynamodb, config)));
  let stored = 0;
  const leftOut = new Map<string, number>();
  try {
    for await (const line of linesOf(flags)) {
      checkNumbers(line);
      const configs = await Promise.all(indexes.map((index) => index.forWriting()));
      const input = configs.length === 0 ? { TableName: name, Item: line.event } : shardedItem(configs, line);
      await documents.put(input).catch((error: unknown) => {
        throw notStored(stored, error, placeOf(line));
      });
      stored += 1;
      for (const gap of leftOutOf(configs, input.Item)) leftOut.set(gap, (leftOut.get(gap) ?? 0) + 1);
      if (flags.json) print(JSON.stringify(input.Item));
    }
  } catch (error) {
    throw notStored(stored, error);
  } finally {
    for (const [gap, count] of leftOut) printError(`${gap}: ${counted(count, 'item')}`);
  }
  if (!flags.json) print(`${counted(stored, 'item')} put into ${path}`);
}

function shardedItem(configs: readonly ShardedConfig[], line: EventLine) {
  try {
    return shardPut(configs, line.event);
  } catch (error) {
    if (!(error instanceof InvalidArgumentError)) throw error;
    throw new InvalidInputError(reasonAt(placeOf(line), error));
  }
}

/** The indexes with sparse: true that do not contain an item, each with the missing attribute. */
function leftOutOf(configs: readonly ShardedConfig[], item: Record<string, unknown>): string[] {
  return configs.flatMap((config) => {
    if (isTableConfig(config) || !Object.hasOwn(item, config.shardAttribute)) return [];
    const missing = missingSortKey(config, item);
    return missing === undefined ? [] : [`index ${config.indexName} does not contain items without ${missing}`];
  });
}

/** Rejects a number that JavaScript would round: it reads 12345678901234567890 as 12345678901234567000. */
function checkNumbers(line: EventLine): void {
  const withoutStrings = line.text.replace(/"[^"\\]*(?:\\.[^"\\]*)*"/g, '""');
  const rounded = withoutStrings.match(/-?\d[\d.eE+-]*/g)?.find((number) => typeof exactNumber(number) === 'string');
  if (rounded === undefined) return;
  throw new InvalidInputError(
    `${placeOf(line)}: ${cutShort(rounded, 40)} has more digits than JavaScript keeps of a number; give it as a text`,
  );
}

async function putRecords(target: Target, { path, name, hashBuckets }: DeployedStream, flags: PutFlags): Promise<void> {
  const stream = `arn:aws:kinesis:*:*:stream/${name}`;
  const statements = [{ actions: ['kinesis:ListShards', 'kinesis:PutRecords'], resources: [stream] }];
  if (flags.permissions) return printText(policyText([...target.statements, ...statements]));
  const { 'partition-key': partitionKey } = flags;
  if (partitionKey === undefined)
    throw new UsageError('give --partition-key, because each record of a stream needs a partition key', COMMAND);
  const producer = new OrderedProducer(target.clients.kinesis, {
    streamName: name,
    ...(hashBuckets !== undefined && { hashBuckets }),
  });
  let stored = 0;
  let firstRejected = { index: Number.POSITIVE_INFINITY, place: '' };
  const shards = new Map<string, number>();
  const putting = producer.putAll(recordsOf(flags, partitionKey), {
    delivered(_, record, { shardId, sequenceNumber }) {
      stored += 1;
      shards.set(shardId, (shards.get(shardId) ?? 0) + 1);
      if (flags.json) print(JSON.stringify({ partitionKey: record.partitionKey, shardId, sequenceNumber }));
    },
    rejected(index, { place }, error) {
      printError(`not stored: ${reasonAt(place, error)}`);
      if (index < firstRejected.index) firstRejected = { index, place };
    },
  });
  try {
    const { firstRejection } = await putting.finally(() => producer.close());
    if (firstRejection !== undefined) throw notStored(stored, firstRejection.error, firstRejected.place);
  } catch (error) {
    throw notStored(stored, error);
  }
  if (flags.json) return;
  print(`${counted(stored, 'record')} put into ${path}`);
  for (const [shardId, count] of [...shards].sort()) print(`  ${shardId}: ${count}`);
}

async function* recordsOf(flags: PutFlags, partitionKey: string): AsyncGenerator<PlacedRecord> {
  for await (const line of linesOf(flags)) {
    const { event, text } = line;
    const key = Object.hasOwn(event, partitionKey) ? event[partitionKey] : undefined;
    const isRounded = typeof key === 'number' && Math.abs(key) > Number.MAX_SAFE_INTEGER;
    if ((typeof key !== 'string' && typeof key !== 'number') || isRounded) {
      const allowed = `a text or a number${isRounded ? ' of at most 15 digits' : ''}`;
      throw new InvalidInputError(`${placeOf(line)}: ${partitionKey} must be ${allowed} (it is the partition key)`);
    }
    yield { partitionKey: String(key), data: Buffer.from(text), place: placeOf(line) };
  }
}

/** The lines of the input, from the flags. */
async function* linesOf({ item, input }: PutFlags): AsyncGenerator<EventLine> {
  if (item === undefined) yield* userEvents([input!]);
  else yield { event: itemOf(item), file: '--item', line: 1, text: item };
}

function itemOf(text: string): Record<string, unknown> {
  try {
    const item: unknown = JSON.parse(text);
    if (isRecord(item)) return item;
  } catch {
    // The error below reports invalid JSON, too.
  }
  throw new UsageError('--item must be a JSON object', COMMAND);
}
