import type { EventEmitter } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import type { AttributeValue, DynamoDB, QueryCommandInput, QueryCommandOutput } from '@aws-sdk/client-dynamodb';

/** The part of the package cbor that the server uses. */
export interface Cbor {
  encode(value: unknown): Buffer;
  /** Throws an error if the bytes hold no complete value. */
  decodeFirstSync(bytes: Buffer, options: { extendedResults: true }): { value: unknown; length: number };
}

type Item = Record<string, AttributeValue>;
type Expression = [code: number, ...operands: (Expression | string | number)[]];

/** The keys of a table, and the types of their attributes. */
interface TableKeys {
  [table: string]: [name: string, type: 'S'][];
}

/** The method ids of the client with their numbers of arguments. Source: @amazon-dax-sdk/client-dax, Constants.js. */
const ARGUMENTS = new Map([
  [1489122155, 5], // authorizeConnection, which has no response
  [455855874, 0], // endpoints
  [-742646399, 1], // defineKeySchema
  [670678385, 1], // defineAttributeList
  [-931250863, 3], // query
]);
const AUTHORIZE = 1489122155;
const HANDSHAKE_VALUES = 5;

/**
 * The numbers that the protocol gives to the fields of requests and responses, and to the functions in expressions.
 * Source: Constants.js and CborSExprGenerator.js of @amazon-dax-sdk/client-dax.
 */
const FIELD = { names: 1, consistent: 2, startKey: 9, filter: 10, index: 11, limit: 13, forward: 14, select: 15 };
const ANSWER = { capacity: 1, items: 7, count: 8, lastKey: 9, scanned: 10 };
const COMPARATORS = ['=', '<>', '<', '>=', '>', '<='];
const [AND, OR, NOT, BETWEEN, BEGINS_WITH, VARIABLE, PATH] = [6, 7, 8, 9, 14, 17, 18];

/** An error in the form of DAX. */
export const THROTTLED = { codes: [4, 37, 38, 39, 40], message: 'throttled', status: 400 };

/**
 * A fake DAX cluster of one node in front of a DynamoDB emulator, with the query cache of the developer guide. Until
 * the time to live has passed, it returns the response of an eventually consistent query from the cache, also after
 * writes. It supports only queries, and only attributes that are strings, numbers or booleans.
 */
export class DaxServer {
  /** The received requests in order. */
  readonly queries: QueryCommandInput[] = [];
  /** The errors of the next queries, in order. */
  readonly refusals: (typeof THROTTLED)[] = [];
  nowMs = 0;
  private readonly cached = new Map<string, { answer: QueryCommandOutput; untilMs: number }>();
  private readonly attributeLists: string[][] = [];
  private readonly sockets = new Set<Socket>();
  private server: Server | undefined;

  constructor(
    private readonly dynamoDb: DynamoDB,
    private readonly keys: TableKeys,
    private readonly cbor: Cbor,
    private readonly timeToLiveMs: number,
  ) {}

  /** The endpoint for the client. */
  async start(): Promise<string> {
    this.server = createServer((socket) => this.serve(socket));
    await new Promise<void>((resolve) => this.server!.listen(0, '127.0.0.1', resolve));
    return `dax://127.0.0.1:${this.port}`;
  }

  async stop(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    await new Promise((resolve) => (this.server as EventEmitter & Server).close(resolve));
  }

  private get port(): number {
    return (this.server!.address() as { port: number }).port;
  }

  private serve(socket: Socket): void {
    this.sockets.add(socket);
    socket.on('close', () => this.sockets.delete(socket));
    socket.on('error', () => socket.destroy());
    let unread: Buffer = Buffer.alloc(0);
    const values: unknown[] = [];
    let isShakingHands = true;
    let working = Promise.resolve();
    socket.on('data', (bytes) => {
      unread = this.decode(Buffer.concat([unread, bytes as Buffer]), values);
      if (isShakingHands && values.length >= HANDSHAKE_VALUES) {
        values.splice(0, HANDSHAKE_VALUES);
        isShakingHands = false;
      }
      while (!isShakingHands) {
        const count = ARGUMENTS.get(values[1] as number);
        if (count === undefined || values.length < 2 + count) return;
        const [, method, ...given] = values.splice(0, 2 + count);
        if (method === AUTHORIZE) continue;
        working = working
          .then(async () => void socket.write(await this.answer(method as number, given)))
          .catch(() => void socket.destroy());
      }
    });
  }

  /** Decodes the complete values at the beginning of the bytes into the list, and returns the remaining bytes. */
  private decode(bytes: Buffer, values: unknown[]): Buffer {
    let unread = bytes;
    while (unread.length > 0) {
      try {
        const { value, length } = this.cbor.decodeFirstSync(unread, { extendedResults: true });
        values.push(value);
        unread = unread.subarray(length);
      } catch {
        break;
      }
    }
    return unread;
  }

  private async answer(method: number, [first, ...others]: unknown[]): Promise<Buffer> {
    const success = (value: unknown): Buffer => Buffer.concat([this.cbor.encode([]), this.cbor.encode(value)]);
    if (method === -742646399) return success(new Map(this.keys[String(first)]!));
    if (method === 670678385) return success(this.attributeLists[(first as number) - 2]);
    if (method === 455855874) {
      return success([[1, 'localhost', Buffer.from([127, 0, 0, 1]), this.port, 1, 1, 'zone']]);
    }
    const refusal = this.refusals.shift();
    if (refusal === undefined) return success(await this.query(String(first), others));
    const { codes, message, status } = refusal;
    return Buffer.concat([codes, message, ['request', 'error', status]].map((value) => this.cbor.encode(value)));
  }

  private async query(table: string, [condition, fields]: unknown[]): Promise<unknown> {
    const given = new Map(fields as Map<number, unknown>);
    const expressions = new Expressions();
    const field = (code: number): unknown => given.get(code);
    const index = field(FIELD.index);
    const filter = field(FIELD.filter) as Buffer | undefined;
    const projection = given.get(0) as Buffer | undefined;
    const paths = projection && this.decoded<[number, Expression[]]>(projection)[1].map(([, name]) => String(name));
    const input: QueryCommandInput = {
      TableName: table,
      ...(index !== undefined && { IndexName: String(index) }),
      KeyConditionExpression: expressions.text(this.decoded(condition as Buffer)),
      ...(filter && { FilterExpression: expressions.text(this.decoded(filter)) }),
      ...(paths && { ProjectionExpression: paths.map((name) => expressions.name(name)).join(', ') }),
      ...(field(FIELD.startKey) !== undefined && { ExclusiveStartKey: this.startKey(table, index, given) }),
      ...(field(FIELD.limit) !== undefined && { Limit: field(FIELD.limit) as number }),
      ...(field(FIELD.select) === 3 && { Select: 'COUNT' }),
      ScanIndexForward: field(FIELD.forward) !== 0,
      ConsistentRead: field(FIELD.consistent) === 1,
      ExpressionAttributeNames: expressions.names,
      ExpressionAttributeValues: expressions.values,
      ReturnConsumedCapacity: 'TOTAL',
    };
    this.queries.push(input);
    const { answer, isCached } = await this.cachedResponse(input);
    return this.encoded(table, index !== undefined, paths, answer, isCached);
  }

  private async cachedResponse(input: QueryCommandInput): Promise<{ answer: QueryCommandOutput; isCached: boolean }> {
    const question = JSON.stringify(input);
    const kept = this.cached.get(question);
    if (!input.ConsistentRead && kept !== undefined && kept.untilMs > this.nowMs) {
      return { answer: kept.answer, isCached: true };
    }
    const answer = await this.dynamoDb.query(input);
    if (!input.ConsistentRead) this.cached.set(question, { answer, untilMs: this.nowMs + this.timeToLiveMs });
    return { answer, isCached: false };
  }

  private encoded(
    table: string,
    isIndex: boolean,
    paths: string[] | undefined,
    answer: QueryCommandOutput,
    isCached: boolean,
  ): Map<number, unknown> {
    const { Items, Count, ScannedCount, LastEvaluatedKey, ConsumedCapacity } = answer;
    const key = this.keys[table]!.map(([name]) => name);
    const fields = new Map<number, unknown>([
      [ANSWER.count, Count],
      [ANSWER.scanned, ScannedCount],
    ]);
    if (Items) fields.set(ANSWER.items, paths ? Items.map((item) => projected(item, paths)) : this.whole(Items, key));
    if (LastEvaluatedKey) {
      const encodedKey = isIndex ? this.cbor.encode(plainMap(LastEvaluatedKey)) : this.keyBytes(LastEvaluatedKey, key);
      fields.set(ANSWER.lastKey, encodedKey);
    }
    const capacity = [table, ConsumedCapacity!.CapacityUnits, null, null, null].map((value) => this.cbor.encode(value));
    fields.set(ANSWER.capacity, isCached ? null : Buffer.concat(capacity));
    return fields;
  }

  private whole(items: readonly Item[], key: readonly string[]): [Buffer, Buffer][] {
    return items.map((item) => {
      const names = Object.keys(item)
        .filter((name) => !key.includes(name))
        .sort();
      const values = [this.listId(names), ...names.map((name) => plain(item[name]!))];
      return [this.keyBytes(item, key), Buffer.concat(values.map((value) => this.cbor.encode(value)))];
    });
  }

  private listId(names: string[]): number {
    if (names.length === 0) return 1;
    const known = this.attributeLists.findIndex((list) => list.join() === names.join());
    return 2 + (known === -1 ? this.attributeLists.push(names) - 1 : known);
  }

  private keyBytes(item: Item, [hash, range]: readonly string[]): Buffer {
    if (range === undefined) return Buffer.from(item[hash!]!.S!);
    return Buffer.concat([this.cbor.encode(item[hash!]!.S), Buffer.from(item[range]!.S!)]);
  }

  private startKey(table: string, index: unknown, given: Map<number, unknown>): Item {
    const bytes = given.get(FIELD.startKey) as Buffer;
    if (index !== undefined) {
      const entries = Object.entries(this.decoded<Record<string, string | number>>(bytes));
      return Object.fromEntries(entries.map(([name, value]) => [name, attribute(value)]));
    }
    const [hash, range] = this.keys[table]!.map(([name]) => name) as [string, string?];
    if (range === undefined) return { [hash]: { S: bytes.toString() } };
    const { value, length } = this.cbor.decodeFirstSync(bytes, { extendedResults: true });
    return { [hash]: attribute(value as string), [range]: { S: bytes.subarray(length).toString() } };
  }

  private decoded<T = Expression>(bytes: Buffer): T {
    return this.cbor.decodeFirstSync(bytes, { extendedResults: true }).value as T;
  }
}

/** Writes the expressions of a request as text, with their names and values. */
class Expressions {
  readonly names: Record<string, string> = {};
  readonly values: Item = {};

  name(attributeName: string): string {
    const placeholder = `#n${Object.keys(this.names).length}`;
    this.names[placeholder] = attributeName;
    return placeholder;
  }

  text(expression: unknown): string {
    const [, root, values] = expression as [number, Expression, (string | number)[]];
    const write = (term: Expression): string => {
      const [code, ...operands] = term;
      if (code === PATH) return this.name(String(operands[0]));
      if (code === VARIABLE) return this.value(values[operands[0] as number]!);
      const [a, b, c] = operands.map((operand) => write(operand as Expression));
      if (code === AND) return `(${a}) AND (${b})`;
      if (code === OR) return `(${a}) OR (${b})`;
      if (code === NOT) return `NOT (${a})`;
      if (code === BETWEEN) return `${a} BETWEEN ${b} AND ${c}`;
      if (code === BEGINS_WITH) return `begins_with(${a}, ${b})`;
      return `${a} ${COMPARATORS[code]} ${b}`;
    };
    return write(root);
  }

  private value(value: string | number): string {
    const placeholder = `:v${Object.keys(this.values).length}`;
    this.values[placeholder] = attribute(value);
    return placeholder;
  }
}

function attribute(value: string | number | boolean): AttributeValue {
  if (typeof value === 'boolean') return { BOOL: value };
  return typeof value === 'number' ? { N: String(value) } : { S: value };
}

function plain({ S, N, BOOL }: AttributeValue): string | number | boolean {
  return S ?? BOOL ?? Number(N);
}

function plainMap(item: Item): Map<string, unknown> {
  return new Map(Object.entries(item).map(([name, value]) => [name, plain(value)]));
}

/** The attributes of a projection by their position. */
function projected(item: Item, paths: readonly string[]): Map<number, unknown> {
  return new Map(paths.flatMap((path, at) => (item[path] === undefined ? [] : [[at, plain(item[path])] as const])));
}
