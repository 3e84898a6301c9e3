import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import {
  hashPartitionKey,
  type IndexQueryInput,
  type ShardedIndexConfig,
  shardIndexOf,
  uniformRanges,
} from '../../../lib/core';
import { type AttributeJson, itemFromJson, itemToJson } from '../../../lib/core/sharded-index/client/attribute-json';
import { FakeIndex } from '../../support/fakes/fake-index';
import { CANARY, type Dice, mutatedJson } from '../../support/random-json';
import { ConditionFailed, CountTable } from './count-table';
import type { FuzzCase } from './fuzz-case';

/**
 * The fate of a request: how the stub handles the request. The first fate is a correct response. The other fates can happen to
 * every call of every service.
 */
const FATES = [
  'honest',
  'applied, answer lost',
  'cut in the body',
  'cut JSON',
  'empty',
  'empty object',
  'failed',
  'HTML',
  'HTML of a proxy',
  'late',
  'mutated answer',
  'not JSON',
  'refused, quoting the request',
  'slow',
  'the answer before',
  'the same page again',
  'throttled',
  'twice',
] as const;
type Fate = (typeof FATES)[number];

/** With these fates, a service can return false data, so the oracle cannot check the results. */
const LIES: readonly Fate[] = ['mutated answer', 'the answer before', 'the same page again', 'empty object'];

interface Answer {
  status: number;
  body: string;
}

interface Entry {
  Data: string;
  PartitionKey: string;
  ExplicitHashKey?: string;
}

interface StoredRecord extends Entry {
  shardId: string;
  sequenceNumber: string;
}

/** The continuation tokens of all services. With the fate `the same page again`, every response has these tokens. */
const THE_SAME_AGAIN = {
  LastEvaluatedKey: { id: { S: CANARY }, index: { S: CANARY }, value: { S: CANARY } },
  NextToken: CANARY,
  HasMoreTags: true,
};

const OPERATIONS = [
  'PutRecords',
  'ListShards',
  'DescribeStreamSummary',
  'ListTagsForStream',
  'UpdateShardCount',
  'Query',
  'GetItem',
  'PutItem',
  'Scan',
  'Invoke',
  'GetSecretValue',
];

const LATE_MS = 150;
const DRIPS = 8;
const DRIP_MS = 60;

/**
 * A server for the calls of this library to Kinesis, DynamoDB, CloudWatch and Lambda. The fate of a request determines its
 * response. The stub applies every request before it changes the response, so acknowledged data are stored.
 */
export class AwsStub {
  readonly records: StoredRecord[] = [];
  /** The fates of the last requests. The code that reads the list also clears it. */
  readonly fates: Fate[] = [];
  calls = 0;
  fate: (operation: string) => Fate = () => 'honest';
  readonly items = new Map<string, Record<string, unknown>>();
  /** The table of shard counts. The stub sends all queries without an index to this table. */
  readonly counts = new CountTable();
  readonly endpoint: string;
  private readonly dice: Dice;
  private readonly indexes: ReadonlyMap<string, FakeIndex>;
  private readonly before = new Map<string, Answer>();
  private tags: Record<string, string> = {};
  private sequence = 0n;
  private shardCount = 4;

  private constructor(server: Server, fuzzCase: FuzzCase, configs: readonly ShardedIndexConfig[]) {
    this.dice = fuzzCase.diceFor('AWS');
    this.indexes = new Map(configs.map((config) => [config.indexName!, new FakeIndex(config, { pageItems: 7 })]));
    this.endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    server.on('request', (request, response) => {
      this.serve(request, response).catch((error) => {
        fuzzCase.fails(error);
        response.destroy();
      });
    });
  }

  /** Starts a stub that stops at the end of the case. */
  static async start(fuzzCase: FuzzCase, configs: readonly ShardedIndexConfig[] = []): Promise<AwsStub> {
    const server = createServer().listen(0, '127.0.0.1');
    fuzzCase.with(server, () => {
      server.close();
      server.closeAllConnections();
    });
    await once(server, 'listening');
    return new AwsStub(server, fuzzCase, configs);
  }

  /**
   * In half of the cases, the stub responds correctly to all requests. In the other cases, it responds correctly to half of the
   * requests, or one operation always has the same fate.
   */
  drawFates(dice: Dice, { lies = true } = {}): void {
    const fates = FATES.filter((fate) => lies || !LIES.includes(fate));
    const isHostile = dice.chance(0.5);
    const always = dice.chance(0.2) ? { operation: dice.pick(OPERATIONS), fate: dice.pick(fates) } : undefined;
    this.fates.length = 0;
    this.fate = (operation) => {
      if (!isHostile) return 'honest';
      if (always !== undefined) return operation === always.operation ? always.fate : 'honest';
      return this.dice.chance(0.5) ? this.dice.pick(fates) : 'honest';
    };
  }

  get hasLied(): boolean {
    return this.fates.some((fate) => LIES.includes(fate));
  }

  index(name: string): FakeIndex {
    return this.indexes.get(name)!;
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.on('error', () => {});
    const body = await text(request).catch(() => '');
    const operation = operationOf(request);
    this.calls += 1;
    const fate = this.fate(operation);
    this.fates.push(fate);
    if (fate === 'throttled')
      return send(response, refusal(400, 'ProvisionedThroughputExceededException', 'slow down'));
    if (fate === 'failed') return send(response, refusal(500, 'InternalServerError', 'internal'));
    if (fate === 'refused, quoting the request') {
      return send(response, refusal(400, 'ValidationException', `not valid: ${CANARY} ${body.slice(0, 500)}`));
    }
    const answer = await this.answer(operation, body);
    const earlier = this.before.get(operation);
    this.before.set(operation, answer);
    await this.spoil(fate, response, answer, earlier);
  }

  private async spoil(fate: Fate, response: ServerResponse, answer: Answer, earlier = answer): Promise<void> {
    const { status, body } = answer;
    switch (fate) {
      case 'applied, answer lost':
        response.destroy();
        return;
      case 'cut in the body':
        response.writeHead(status, { 'content-length': body.length + 10 }).write(body.slice(0, body.length / 2));
        setTimeout(() => response.destroy(), 10);
        return;
      case 'cut JSON':
        return send(response, { status, body: body.slice(0, this.dice.below(body.length)) });
      case 'empty':
        return send(response, { status, body: '' });
      case 'empty object':
        return send(response, { status, body: '{}' });
      case 'HTML':
        return send(response, { status: 200, body: `<html><body>${CANARY}</body></html>` });
      case 'HTML of a proxy':
        return send(response, { status: 502, body: `<html><body>Bad Gateway ${CANARY}</body></html>` });
      case 'late':
        setTimeout(() => send(response, answer), LATE_MS);
        return;
      case 'mutated answer':
        return send(response, { status, body: mutatedJson(jsonOr(body), this.dice) });
      case 'not JSON':
        return send(response, { status, body: `${CANARY}\u0000` });
      case 'slow':
        return drip(response, answer);
      case 'the answer before':
        return send(response, earlier);
      case 'the same page again':
        return send(response, { status, body: JSON.stringify({ ...Object(jsonOr(body)), ...THE_SAME_AGAIN }) });
      case 'twice':
        return send(response, { status, body: body + body });
      default:
        return send(response, answer);
    }
  }

  private async answer(operation: string, body: string): Promise<Answer> {
    const input = jsonOr(body) as Record<string, never>;
    switch (operation) {
      case 'PutRecords':
        return ok(this.putRecords(Object(input)));
      case 'ListShards':
        return ok({ Shards: this.shards() });
      case 'DescribeStreamSummary':
        return ok({
          StreamDescriptionSummary: {
            StreamName: 'events',
            StreamStatus: 'ACTIVE',
            StreamModeDetails: { StreamMode: 'PROVISIONED' },
            OpenShardCount: this.shardCount,
          },
        });
      case 'ListTagsForStream':
        return ok({ Tags: Object.entries(this.tags).map(([Key, Value]) => ({ Key, Value })), HasMoreTags: false });
      case 'AddTagsToStream':
        this.tags = { ...this.tags, ...Object(input.Tags) };
        return ok({});
      case 'UpdateShardCount':
        this.shardCount = Number(input.TargetShardCount) || this.shardCount;
        return ok({});
      case 'Query':
        return input.IndexName === undefined ? ok(this.counts.query(input as never)) : this.query(input as never);
      case 'GetItem':
        return ok({ Item: this.items.get(idOf(input.Key)) });
      case 'PutItem':
        return idOf(input.Item) === undefined ? this.putCount(input) : this.putItem(input);
      case 'GetSecretValue':
        return ok({ SecretString: JSON.stringify({ username: 'postgres', password: 'postgres' }) });
      case 'Scan':
        return ok({ Items: [...this.items.values()], Count: this.items.size, ScannedCount: this.items.size });
      case 'Invoke':
        return ok(registryAnswer(input));
      default:
        return ok({});
    }
  }

  private shards(): object[] {
    return uniformRanges(this.shardCount).map(({ startingHashKey, endingHashKey }, index) => ({
      ShardId: `shardId-${index}`,
      HashKeyRange: { StartingHashKey: String(startingHashKey), EndingHashKey: String(endingHashKey) },
      SequenceNumberRange: { StartingSequenceNumber: '1' },
    }));
  }

  private putRecords({ Records = [] }: { Records?: Entry[] }): object {
    const ranges = uniformRanges(this.shardCount);
    const results = Records.map((entry) => {
      const hashKey =
        entry.ExplicitHashKey === undefined ? hashPartitionKey(entry.PartitionKey) : BigInt(entry.ExplicitHashKey);
      this.sequence += 1n;
      const stored = {
        ...entry,
        shardId: `shardId-${shardIndexOf(hashKey, ranges)}`,
        sequenceNumber: `${this.sequence}`,
      };
      this.records.push(stored);
      return { ShardId: stored.shardId, SequenceNumber: stored.sequenceNumber };
    });
    return { FailedRecordCount: 0, Records: results };
  }

  private async query(input: IndexQueryInput): Promise<Answer> {
    const decoded = {
      ...input,
      ExpressionAttributeValues: itemFromJson(input.ExpressionAttributeValues as AttributeJson),
      ...(input.ExclusiveStartKey && { ExclusiveStartKey: itemFromJson(input.ExclusiveStartKey as AttributeJson) }),
    };
    const answer = await this.index(input.IndexName!)
      .query(decoded as IndexQueryInput)
      .catch((error: Error) => error);
    if (answer instanceof Error) return refusal(400, 'ValidationException', `${answer.message} ${CANARY}`);
    const { Items, LastEvaluatedKey, ...rest } = answer;
    return ok({
      ...rest,
      Items: Items?.map((item) => itemToJson(item as never)),
      ...(LastEvaluatedKey && { LastEvaluatedKey: itemToJson(LastEvaluatedKey as never) }),
    });
  }

  private putCount(input: Record<string, never>): Answer {
    try {
      return ok(this.counts.putItem(input as never));
    } catch (error) {
      if (!(error instanceof ConditionFailed)) throw error;
      return refusal(400, error.name, error.message);
    }
  }

  /** Supports the two conditions of the registry: an expected version, and a version that must increase. */
  private putItem(input: Record<string, never>): Answer {
    const id = idOf(input.Item);
    const stored = this.items.get(id) as { version: { N: string } } | undefined;
    const condition = String(input.ConditionExpression);
    const expected = Number(
      (input.ExpressionAttributeValues as Record<string, { N: string }> | undefined)?.[':version']?.N,
    );
    const isMet =
      stored === undefined
        ? condition.includes('attribute_not_exists')
        : (condition.includes(' = ') && Number(stored.version.N) === expected) ||
          (condition.includes(' < ') && Number(stored.version.N) < expected);
    if (!isMet) return refusal(400, 'ConditionalCheckFailedException', 'The conditional request failed');
    this.items.set(id, Object(input.Item));
    return ok({});
  }
}

function registryAnswer({ owners = [] }: { owners?: string[] }): object {
  return { owners: owners.map((owner) => ({ owner, hashKey: String(hashPartitionKey(owner)), weight: 1 })) };
}

function idOf(item: unknown): string {
  return Object(Object(item).id).S;
}

function operationOf({ headers, url = '' }: IncomingMessage): string {
  const target = headers['x-amz-target'];
  if (typeof target === 'string') return target.split('.').at(-1)!;
  return url.includes('/invocations') ? 'Invoke' : (url.split('/').at(-1) ?? '');
}

function ok(json: object): Answer {
  return { status: 200, body: JSON.stringify(json) };
}

function refusal(status: number, type: string, message: string): Answer {
  return { status, body: JSON.stringify({ __type: type, message }) };
}

function send(response: ServerResponse, { status, body }: Answer): void {
  if (response.destroyed) return;
  response.writeHead(status, { 'content-type': 'application/x-amz-json-1.1', 'x-amzn-requestid': '1' }).end(body);
}

/** Sends some bytes from time to time, so that the client never sees an idle socket. */
function drip(response: ServerResponse, { status, body }: Answer): void {
  response.writeHead(status, {
    'content-type': 'application/x-amz-json-1.1',
    'content-length': Buffer.byteLength(body),
  });
  const bytes = Buffer.from(body);
  const size = Math.ceil(bytes.length / DRIPS);
  let sent = 0;
  const timer = setInterval(() => {
    if (response.destroyed || sent >= bytes.length) {
      clearInterval(timer);
      response.end();
      return;
    }
    response.write(bytes.subarray(sent, sent + size));
    sent += size;
  }, DRIP_MS);
}

function jsonOr(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}
