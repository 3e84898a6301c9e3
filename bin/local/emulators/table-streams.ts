import { randomBytes } from 'node:crypto';
import { isObject } from '../../../lib/core/kernel/checks';
import { LOCAL_REGION, streamLabel } from '../assembly/emulated-types';
import { type JsonItem, jsonItemBytes } from '../json-item';
import { storedItem } from '../limits/table-shapes';
import { type Call, type Forward, invalid, ok, refusal, type ServiceAnswer } from './gated-service';

/** The operations whose requests or responses have the settings of a stream. */
const TABLE_OPERATIONS: readonly string[] = ['CreateTable', 'DescribeTable', 'UpdateTable', 'DeleteTable'];

/** The parts of a record of each view type, in addition to the keys. */
const IMAGES: Readonly<Record<string, readonly ('NewImage' | 'OldImage')[]>> = {
  KEYS_ONLY: [],
  NEW_IMAGE: ['NewImage'],
  OLD_IMAGE: ['OldImage'],
  NEW_AND_OLD_IMAGES: ['NewImage', 'OldImage'],
};

/** The limits of a page. Source: the API reference, GetRecords. */
const MAX_RECORDS = 1_000;
const MAX_BYTES = 1024 * 1024;

/** Sequence numbers have at least 21 digits. Source: the API reference, StreamRecord. */
const FIRST_NUMBER = 10n ** 20n;

/** One item of a table. */
interface ItemPlace {
  readonly TableName: string;
  readonly key: JsonItem;
}

interface TableStream {
  readonly StreamArn: string;
  readonly StreamLabel: string;
  readonly TableName: string;
  readonly StreamViewType: string;
  readonly KeySchema: unknown;
  readonly CreationRequestDateTime: number;
  readonly shardId: string;
  readonly firstNumber: string;
  /** The records, in the order of the writes. The stream keeps all records until the local run ends. */
  readonly records: JsonItem[];
  isEnabled: boolean;
}

/**
 * The streams of tables, which dynalite does not have. A stream has one shard.
 *
 * Sources: the API reference of DynamoDB Streams; the developer guide, "Change data capture for DynamoDB Streams".
 */
export class TableStreams {
  /** All streams of this run, in the order of their creation. */
  private readonly streams: TableStream[] = [];
  /** The latest stream of each table. The stream of a deleted table can still be read. */
  private readonly latest = new Map<string, TableStream>();
  private lastNumber = FIRST_NUMBER;

  /** @param call sends requests to dynalite */
  constructor(private readonly call: Call) {}

  hasStream(tableName: string): boolean {
    return this.enabled(tableName) !== undefined;
  }

  /** Undefined for an operation of another kind. */
  answer(operation: string, input: JsonItem, forward: Forward): Promise<ServiceAnswer> | undefined {
    if (TABLE_OPERATIONS.includes(operation)) return this.ofTable(operation, input, forward);
    const read = READS[operation];
    return read && (async () => problemOf(operation, input) ?? read(this.streams, input))();
  }

  /**
   * Runs a request that writes items, and adds a record for each item that the request has changed. The caller runs no
   * other request in parallel.
   */
  async recorded(places: readonly ItemPlace[], run: () => Promise<ServiceAnswer>): Promise<ServiceAnswer> {
    const streamed = places.filter(({ TableName }) => this.hasStream(TableName));
    const items = () => Promise.all(streamed.map(({ TableName, key }) => storedItem(this.call, TableName, key)));
    const before = await items();
    const answer = await run();
    const after = await items();
    for (const [index, place] of streamed.entries()) this.add(place, before[index], after[index]);
    return answer;
  }

  /** Adds the record of a write. DynamoDB writes no record for a write that changes no attribute. */
  private add({ TableName, key }: ItemPlace, OldImage: JsonItem | undefined, NewImage: JsonItem | undefined): void {
    if (comparable(OldImage) === comparable(NewImage)) return;
    const { records, StreamViewType } = this.enabled(TableName)!;
    this.lastNumber += 1n;
    const images = Object.entries({ NewImage, OldImage }).filter(
      ([name, image]) => image !== undefined && IMAGES[StreamViewType]!.includes(name as 'NewImage'),
    );
    // The item has the canonical notation of a number. The key of a request can have another notation.
    const Keys = Object.fromEntries(Object.keys(key).map((name) => [name, (NewImage ?? OldImage)![name]]));
    const sizes = [Keys, ...images.map(([, image]) => image!)].map(jsonItemBytes);
    records.push({
      eventID: randomBytes(16).toString('hex'),
      eventName: OldImage === undefined ? 'INSERT' : NewImage === undefined ? 'REMOVE' : 'MODIFY',
      eventVersion: '1.1',
      eventSource: 'aws:dynamodb',
      awsRegion: LOCAL_REGION,
      dynamodb: {
        ApproximateCreationDateTime: Math.floor(Date.now() / 1_000),
        Keys,
        ...Object.fromEntries(images),
        SequenceNumber: String(this.lastNumber),
        SizeBytes: sizes.reduce((sum, size) => sum + size, 0),
        StreamViewType,
      },
    });
  }

  /** Turns a stream on or off, and adds the stream to the description of its table. */
  private async ofTable(
    operation: string,
    { StreamSpecification: stream, ...input }: JsonItem,
    forward: Forward,
  ): Promise<ServiceAnswer> {
    const problem = stream && this.problem(operation, input.TableName, stream);
    if (problem) return invalid(problem);
    const isOnlyStream = stream !== undefined && Object.keys(input).length === 1;
    const answer = isOnlyStream ? await this.call('DescribeTable', input) : await forward(input);
    if (answer.status !== 200) return answer;
    const [table] = Object.values<JsonItem>(answer.output);
    if (stream?.StreamEnabled === false || operation === 'DeleteTable') this.turnOff(table!.TableName);
    if (stream?.StreamEnabled === true) this.turnOn(table!, stream.StreamViewType);
    const described = { ...table, ...this.described(table!.TableName) };
    if (operation === 'DeleteTable') this.latest.delete(table!.TableName);
    return ok({ [operation === 'DescribeTable' ? 'Table' : 'TableDescription']: described });
  }

  private described(tableName: string): object {
    const latest = this.latest.get(tableName);
    if (latest === undefined) return {};
    const { StreamArn, StreamLabel, StreamViewType, isEnabled } = latest;
    return {
      ...(isEnabled && { StreamSpecification: { StreamEnabled: true, StreamViewType } }),
      LatestStreamArn: StreamArn,
      LatestStreamLabel: StreamLabel,
    };
  }

  private problem(operation: string, tableName: string, { StreamEnabled, StreamViewType }: JsonItem) {
    if (typeof StreamEnabled !== 'boolean') return 'StreamSpecification must have StreamEnabled';
    if (StreamEnabled !== Object.hasOwn(IMAGES, StreamViewType ?? '')) {
      return `StreamViewType must be one of ${Object.keys(IMAGES).join(', ')} for a stream that is on, and absent otherwise`;
    }
    if (operation !== 'UpdateTable' || StreamEnabled !== this.hasStream(tableName)) return undefined;
    return `Table ${StreamEnabled ? 'already has an enabled stream' : 'has no stream to disable'}: TableName: ${tableName}`;
  }

  private turnOn({ TableName, TableArn, KeySchema }: JsonItem, StreamViewType: string): void {
    const earlier = this.streams.filter((stream) => stream.TableName === TableName).length;
    const StreamLabel = streamLabel(earlier);
    const CreationRequestDateTime = Date.now() / 1_000;
    const stream = {
      StreamArn: `${TableArn}/stream/${StreamLabel}`,
      StreamLabel,
      TableName,
      StreamViewType,
      KeySchema,
      CreationRequestDateTime,
      records: [],
      isEnabled: true,
      shardId: `shardId-${String(Date.now()).padStart(20, '0')}-${randomBytes(4).toString('hex')}`,
      firstNumber: String(this.lastNumber + 1n),
    };
    this.streams.push(stream);
    this.latest.set(TableName, stream);
  }

  private turnOff(tableName: string): void {
    const stream = this.enabled(tableName);
    if (stream !== undefined) stream.isEnabled = false;
  }

  private enabled(tableName: string): TableStream | undefined {
    const latest = this.latest.get(tableName);
    return latest?.isEnabled ? latest : undefined;
  }
}

type Read = (streams: readonly TableStream[], input: JsonItem) => ServiceAnswer;

const READS: Readonly<Record<string, Read>> = {
  ListStreams: (streams, { TableName, ExclusiveStartStreamArn: after, Limit = 100 }) => {
    const listed = streams.filter((stream) => TableName === undefined || stream.TableName === TableName);
    const rest =
      after === undefined
        ? listed
        : listed.slice(1 + listed.findIndex(({ StreamArn }) => StreamArn === after) || listed.length);
    const page = rest.slice(0, Limit);
    return ok({
      Streams: page.map(({ StreamArn, TableName, StreamLabel }) => ({ StreamArn, TableName, StreamLabel })),
      ...(page.length < rest.length && { LastEvaluatedStreamArn: page.at(-1)!.StreamArn }),
    });
  },
  DescribeStream: (streams, { StreamArn, ExclusiveStartShardId: after }) => {
    const stream = streams.find((each) => each.StreamArn === StreamArn);
    if (stream === undefined) return notFound(StreamArn);
    const { shardId: ShardId, firstNumber, records, isEnabled, ...description } = stream;
    const last = records.at(-1)?.dynamodb.SequenceNumber ?? firstNumber;
    const SequenceNumberRange = {
      StartingSequenceNumber: firstNumber,
      ...(!isEnabled && { EndingSequenceNumber: last }),
    };
    return ok({
      StreamDescription: {
        ...description,
        StreamStatus: isEnabled ? 'ENABLED' : 'DISABLED',
        Shards: after === ShardId ? [] : [{ ShardId, SequenceNumberRange }],
      },
    });
  },
  GetShardIterator: (streams, { StreamArn, ShardId, ShardIteratorType, SequenceNumber }) => {
    const stream = streams.find((each) => each.StreamArn === StreamArn && each.shardId === ShardId);
    if (stream === undefined) return notFound(`${StreamArn}, shard ${ShardId}`);
    const position = positionOf(stream, ShardIteratorType, SequenceNumber);
    return position === undefined
      ? invalid('Invalid ShardIteratorType or SequenceNumber')
      : ok({ ShardIterator: iteratorAt(stream, position) });
  },
  GetRecords: (streams, { ShardIterator, Limit = MAX_RECORDS }) => {
    const [arn, position = ''] = String(ShardIterator).split('|');
    const stream = streams.find(({ StreamArn }) => StreamArn === arn);
    if (stream === undefined || !/^\d+$/.test(position)) return invalid('Invalid ShardIterator');
    const Records = pageOf(stream.records.slice(Number(position), Number(position) + Limit));
    const next = Number(position) + Records.length;
    const isEnded = !stream.isEnabled && next === stream.records.length;
    return ok({ Records, ...(!isEnded && { NextShardIterator: iteratorAt(stream, next) }) });
  },
};

/** The maximum of the parameter Limit of each operation. Source: the API reference. */
const MAX_LIMITS: Readonly<Record<string, number>> = { ListStreams: 100, DescribeStream: 100, GetRecords: MAX_RECORDS };

/** The error of a request with invalid parameters. */
function problemOf(operation: string, { Limit = 1, StreamArn, ShardIteratorType, SequenceNumber }: JsonItem) {
  const maximum = MAX_LIMITS[operation];
  if (maximum !== undefined && (!Number.isInteger(Limit) || Limit < 1 || Limit > maximum)) {
    return invalid(`Limit must be an integer from 1 to ${maximum}`);
  }
  if (operation === 'DescribeStream' && typeof StreamArn !== 'string') return invalid('Invalid StreamArn');
  if (SequenceNumber !== undefined && ['TRIM_HORIZON', 'LATEST'].includes(ShardIteratorType)) {
    return invalid('SequenceNumber should not be passed for this iterator type');
  }
  return undefined;
}

/** The index of the record at which an iterator begins. Undefined if the request is invalid. */
function positionOf({ records }: TableStream, type: string, sequenceNumber: string | undefined): number | undefined {
  if (type === 'TRIM_HORIZON') return 0;
  if (type === 'LATEST') return records.length;
  const index = records.findIndex(({ dynamodb }) => dynamodb.SequenceNumber === sequenceNumber);
  if (index === -1) return undefined;
  return type === 'AT_SEQUENCE_NUMBER' ? index : type === 'AFTER_SEQUENCE_NUMBER' ? index + 1 : undefined;
}

function iteratorAt({ StreamArn }: TableStream, position: number): string {
  return `${StreamArn}|${position}`;
}

/** A page always has at least one record. */
function pageOf(records: readonly JsonItem[]): readonly JsonItem[] {
  let bytes = 0;
  const end = records.findIndex(({ dynamodb }, index) => {
    bytes += dynamodb.SizeBytes;
    return index > 0 && bytes > MAX_BYTES;
  });
  return end === -1 ? records : records.slice(0, end);
}

/** Equal for items with equal attributes. The elements of a set have no order. */
function comparable(value: unknown): string | undefined {
  return JSON.stringify(value, (name, part) => {
    if (Array.isArray(part)) return SETS.includes(name) ? [...part].sort() : part;
    return isObject(part) ? Object.fromEntries(Object.entries(part).sort()) : part;
  });
}

const SETS = ['SS', 'NS', 'BS'];

function notFound(what: string): ServiceAnswer {
  const type = 'com.amazonaws.dynamodb.v20120810#ResourceNotFoundException';
  return refusal(type, `Requested resource not found: Stream: ${what} not found`);
}
