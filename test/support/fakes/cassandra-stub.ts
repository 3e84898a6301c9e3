import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { systemClock } from '../../../lib/core/kernel/clock';
import type { CqlRow } from '../../../lib/core/keyspaces/cql-client';
import { CANARY, type Dice, mutatedBytes } from '../random-json';
import type { FakeCassandra } from './fake-cassandra';

/**
 * The possible outcomes of a request. The first fate is a correct response. Each other fate can apply to every
 * request, also to the sign-in.
 */
export const FATES = [
  'honest',
  'cut',
  'cut, and then silence',
  'doubled',
  'empty',
  'failed',
  'forgotten statement',
  'HTML',
  'late',
  'lost',
  'mutated values',
  'no rows at all',
  'of another request',
  'overloaded',
  'refused, quoting the request',
  'silence',
  'slow',
  'the answer before',
  'throttled',
] as const;
export type Fate = (typeof FATES)[number];

/** With these fates a response can be wrong without an error, so the oracle cannot check its rows. */
export const LIES: readonly Fate[] = ['doubled', 'empty', 'mutated values', 'of another request', 'the answer before'];

const LATE_MS = 100;
const DRIPS = 8;
const DRIP_MS = 20;

/** Opcodes. Source: the CQL binary protocol, version 4, section 2.4. */
const [ERROR, STARTUP, READY, AUTHENTICATE, OPTIONS, SUPPORTED, QUERY, RESULT, PREPARE, EXECUTE, REGISTER] = [
  0, 1, 2, 3, 5, 6, 7, 8, 9, 10, 11,
] as const;
const [AUTH_CHALLENGE, AUTH_RESPONSE, AUTH_SUCCESS] = [14, 15, 16] as const;

const HEADER = 9;

/** The type numbers of the columns in the protocol. */
const TYPES = { bigint: 2, int: 9, text: 13 } as const;
type ColumnTypes = Readonly<Record<string, keyof typeof TYPES>>;

interface Answer {
  readonly opcode: number;
  readonly body: Buffer;
  /** The rows of a response that tests can change. */
  readonly rows?: { columns: string[]; values: (Buffer | undefined)[][]; pageState?: string | null };
}

/**
 * A server with a fake table. It implements the part of the CQL protocol of Amazon Keyspaces that the Node.js driver
 * and the query function use.
 */
export class CassandraStub {
  fate: () => Fate = () => 'honest';
  private readonly prepared: string[] = [];
  private readonly sockets = new Set<Socket>();

  private constructor(
    private readonly server: Server,
    private readonly table: FakeCassandra,
    private readonly types: ColumnTypes,
    private readonly region: string,
    private readonly dice: Dice,
  ) {}

  static async start(
    table: FakeCassandra,
    { types, region, dice }: { types: ColumnTypes; region: string; dice: Dice },
  ): Promise<CassandraStub> {
    const server = createServer();
    const stub = new CassandraStub(server, table, types, region, dice);
    server.on('connection', (socket) => stub.serve(socket)).listen(0, '127.0.0.1');
    await once(server, 'listening');
    return stub;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  stop(): void {
    this.server.close();
    for (const socket of this.sockets) socket.destroy();
  }

  private serve(socket: Socket): void {
    const connection = { isSilent: false, before: undefined as Answer | undefined };
    let received: Buffer = Buffer.alloc(0);
    let sent = Promise.resolve();
    this.sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => this.sockets.delete(socket));
    socket.on('data', (bytes) => {
      received = Buffer.concat([received, bytes]);
      while (received.length >= HEADER && received.length >= HEADER + received.readInt32BE(5)) {
        const end = HEADER + received.readInt32BE(5);
        const frame = received.subarray(0, end);
        received = received.subarray(end);
        sent = sent.then(async () => {
          const answer = await this.answer(frame[4]!, frame.subarray(HEADER)).catch(() => refusal(0x000a, 'no frame'));
          await this.send(this.fate(), answer, { socket, stream: frame.readInt16BE(2), connection });
        });
      }
    });
  }

  private async send(
    fate: Fate,
    answer: Answer,
    {
      socket,
      stream,
      connection,
    }: { socket: Socket; stream: number; connection: { isSilent: boolean; before: Answer | undefined } },
  ): Promise<void> {
    const write = (bytes: Buffer): void => {
      if (!connection.isSilent && !socket.destroyed) socket.write(bytes);
    };
    const bytes = frameOf(answer, stream);
    const { before = answer } = connection;
    connection.before = answer;
    switch (fate) {
      case 'cut':
        write(bytes.subarray(0, bytes.length / 2));
        await systemClock.sleep(5);
        socket.destroy();
        return;
      case 'cut, and then silence':
        write(bytes.subarray(0, bytes.length / 2));
        connection.isSilent = true;
        return;
      case 'doubled':
        return write(Buffer.concat([bytes, bytes]));
      case 'empty':
        return write(frameOf(answer.rows ? rowsAnswer({ ...answer.rows, values: [] }, this.types) : answer, stream));
      case 'failed':
        return write(frameOf(refusal(0x0000, 'internal'), stream));
      case 'forgotten statement':
        return write(frameOf(refusal(0x2500, 'unprepared', shortBytes(Buffer.from('0'))), stream));
      case 'HTML':
        return write(Buffer.from(`HTTP/1.1 400 Bad Request\r\n\r\n<html>${CANARY}</html>`));
      case 'late':
        await systemClock.sleep(LATE_MS);
        return write(bytes);
      case 'lost':
        socket.destroy();
        return;
      case 'mutated values':
        return write(frameOf(this.mutated(answer), stream));
      case 'no rows at all':
        return write(frameOf({ opcode: RESULT, body: int(1) }, stream));
      case 'of another request':
        return write(frameOf(answer, stream + 1 + this.dice.below(3)));
      case 'overloaded':
        return write(frameOf(refusal(0x1001, 'overloaded'), stream));
      case 'refused, quoting the request':
        return write(frameOf(refusal(0x2200, `not valid: ${CANARY}`), stream));
      case 'silence':
        connection.isSilent = true;
        return;
      case 'slow':
        for (let sent = 0; sent < bytes.length; sent += Math.ceil(bytes.length / DRIPS)) {
          write(bytes.subarray(sent, sent + Math.ceil(bytes.length / DRIPS)));
          await systemClock.sleep(DRIP_MS);
        }
        return;
      case 'the answer before':
        return write(frameOf(before, stream));
      case 'throttled':
        return write(frameOf(refusal(0x1200, 'too slow', Buffer.of(0, 6, 0, 0, 0, 0, 0, 0, 0, 1, 0)), stream));
      default:
        return write(bytes);
    }
  }

  private mutated(answer: Answer): Answer {
    if (answer.rows === undefined) return answer;
    const values = answer.rows.values.map((row) =>
      row.map((value) => {
        if (this.dice.chance(0.7)) return value;
        return this.dice.chance(0.3) ? undefined : mutatedBytes(value ?? Buffer.from(CANARY), this.dice);
      }),
    );
    return rowsAnswer({ ...answer.rows, values }, this.types);
  }

  private async answer(opcode: number, body: Buffer): Promise<Answer> {
    switch (opcode) {
      case OPTIONS:
        return { opcode: SUPPORTED, body: Buffer.of(0, 0) };
      case STARTUP:
        return { opcode: AUTHENTICATE, body: text('com.amazonaws.Authenticator') };
      case AUTH_RESPONSE:
        return body.includes('SigV4')
          ? { opcode: AUTH_CHALLENGE, body: longBytes(Buffer.from('nonce=91703fdc2ef562e19fbdab0f58e42fe5')) }
          : { opcode: AUTH_SUCCESS, body: int(-1) };
      case REGISTER:
        return { opcode: READY, body: Buffer.alloc(0) };
      case QUERY:
        return this.system(body.subarray(4, 4 + body.readInt32BE(0)).toString());
      case PREPARE:
        return this.prepare(body.subarray(4, 4 + body.readInt32BE(0)).toString());
      case EXECUTE:
        return this.execute(body);
      default:
        return refusal(0x000a, 'not known');
    }
  }

  /** Responses to the driver about the cluster, which has one host. */
  private system(query: string): Answer {
    const columns = ['data_center', 'rack', 'release_version'];
    const values = query.includes('system.local') ? [[this.region, 'rack', '3.11.2'].map((of) => Buffer.from(of))] : [];
    return rowsAnswer({ columns, values }, { data_center: 'text', rack: 'text', release_version: 'text' });
  }

  private prepare(query: string): Answer {
    this.prepared.push(query);
    const columns = parametersOf(query).map((name) => columnOf(name, this.types));
    const id = shortBytes(Buffer.from(String(this.prepared.length - 1)));
    const parameters = Buffer.concat([int(1), int(columns.length), int(0), text('k'), text('blogs'), ...columns]);
    return { opcode: RESULT, body: Buffer.concat([int(4), id, parameters, int(4), int(0)]) };
  }

  private async execute(body: Buffer): Promise<Answer> {
    const idEnd = 2 + body.readUInt16BE(0);
    const query = this.prepared[Number(body.subarray(2, idEnd))];
    if (query === undefined) return refusal(0x2500, 'unprepared', shortBytes(body.subarray(2, idEnd)));
    const flags = body[idEnd + 2]!;
    let at = idEnd + 3;
    const bytes = (): Buffer => {
      const length = body.readInt32BE(at);
      at += 4 + Math.max(0, length);
      return body.subarray(at - Math.max(0, length), at);
    };
    const count = flags & 1 ? body.readUInt16BE(at) : 0;
    if (flags & 1) at += 2;
    const parameters = parametersOf(query).slice(0, count);
    const values = parameters.map((name) => decoded(bytes(), this.types[name]!));
    const fetchSize = flags & 4 ? body.readInt32BE(at) : 5_000;
    if (flags & 4) at += 4;
    const pageState = flags & 8 ? bytes().toString() : undefined;
    try {
      const options = { prepare: true, isIdempotent: true, consistency: 1, fetchSize } as const;
      const { rows, pageState: next } = await this.table.execute(query, values, {
        ...options,
        ...(pageState !== undefined && { pageState }),
      });
      const columns = /^SELECT (.+) FROM/
        .exec(query)![1]!
        .split(', ')
        .map((name) => name.slice(1, -1));
      const encode = (row: object) => columns.map((name) => encoded((row as CqlRow)[name], this.types[name]!));
      return rowsAnswer({ columns, values: rows.map(encode), pageState: next }, this.types);
    } catch (error) {
      return refusal(0x2200, `${(error as Error).message} ${CANARY}`);
    }
  }
}

function rowsAnswer(rows: NonNullable<Answer['rows']>, types: ColumnTypes): Answer {
  const { columns, values, pageState } = rows;
  const state = pageState ? longBytes(Buffer.from(pageState)) : Buffer.alloc(0);
  const cells = values.flat().map((value) => (value === undefined ? int(-1) : longBytes(value)));
  const head = [int(2), int(pageState ? 3 : 1), int(columns.length), state, text('k'), text('blogs')];
  const body = Buffer.concat([...head, ...columns.map((name) => columnOf(name, types)), int(values.length), ...cells]);
  return { opcode: RESULT, body, rows };
}

function refusal(code: number, message: string, rest: Uint8Array = Buffer.alloc(0)): Answer {
  return { opcode: ERROR, body: Buffer.concat([int(code), text(message), rest]) };
}

/** The columns to which the parameters of the statement belong, in order. */
function parametersOf(query: string): string[] {
  return [...query.matchAll(/"(\w+)" (?:=|<|<=|>|>=) \?/g)].map(([, name]) => name!);
}

function decoded(bytes: Buffer, type: keyof typeof TYPES): unknown {
  if (type === 'bigint') return String(bytes.readBigInt64BE());
  return type === 'int' ? bytes.readInt32BE() : bytes.toString();
}

function encoded(value: unknown, type: keyof typeof TYPES): Buffer | undefined {
  if (value === undefined || value === null) return undefined;
  if (type === 'int') return int(Number(value));
  if (type === 'text') return Buffer.from(String(value));
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64BE(BigInt(String(value)));
  return bytes;
}

function frameOf({ opcode, body }: Answer, stream: number): Buffer {
  const head = Buffer.from([0x84, 0, 0, 0, opcode]);
  head.writeInt16BE(stream, 2);
  return Buffer.concat([head, longBytes(body)]);
}

function columnOf(name: string, types: ColumnTypes): Buffer {
  return Buffer.concat([text(name), Buffer.of(0, TYPES[types[name]!])]);
}

function int(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
}

function longBytes(bytes: Uint8Array): Buffer {
  return Buffer.concat([int(bytes.length), bytes]);
}

function shortBytes(bytes: Uint8Array): Buffer {
  return Buffer.concat([Buffer.of(bytes.length >> 8, bytes.length & 255), bytes]);
}

function text(of: string): Buffer {
  return shortBytes(Buffer.from(of));
}
