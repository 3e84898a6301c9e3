import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { systemClock } from '../../../lib/core/kernel/clock';
import { CANARY, type Dice, mutatedBytes } from '../random-json';

/**
 * The outcomes that the proxy can choose for a response. The first fate is a correct response. Each other fate can
 * apply to every statement.
 */
export const FATES = [
  'honest',
  'cut',
  'cut, and then silence',
  'doubled',
  'empty',
  'ended by the server',
  'failed',
  'HTML',
  'late',
  'lost',
  'mutated values',
  'no bytes of a message',
  'refused, quoting the request',
  'silence',
  'slow',
  'the answer before',
  'throttled',
  'with notices',
] as const;
export type Fate = (typeof FATES)[number];

/** With these fates a response can be wrong without an error, so the oracle cannot check its rows. */
export const LIES: readonly Fate[] = ['doubled', 'empty', 'mutated values', 'the answer before'];

const LATE_MS = 100;
const DRIPS = 8;
const DRIP_MS = 20;

/** The first bytes of server messages. Source: the manual of Postgres, "Message Formats". */
const [AUTHENTICATION, COMMAND_COMPLETE, DATA_ROW, ERROR, NOTICE, NOTIFICATION, READY] = 'RCDENAZ';

interface Message {
  readonly type: string;
  readonly bytes: Buffer;
}

/**
 * A proxy for a Postgres server that damages responses. `fate` decides how. The server has always executed the
 * statement.
 */
export class HostileProxy {
  fate: () => Fate = () => 'honest';
  private readonly sockets = new Set<Socket>();

  private constructor(
    private readonly server: Server,
    private readonly serverPort: number,
    private readonly dice: Dice,
  ) {}

  static async start(serverPort: number, dice: Dice): Promise<HostileProxy> {
    const server = createServer();
    const proxy = new HostileProxy(server, serverPort, dice);
    server.on('connection', (socket) => proxy.serve(socket)).listen(0, '127.0.0.1');
    await once(server, 'listening');
    return proxy;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  /** Closes all connections. */
  cutAll(): void {
    for (const socket of this.sockets) socket.destroy();
  }

  stop(): void {
    this.server.close();
    this.cutAll();
  }

  private serve(client: Socket): void {
    const server = connect(this.serverPort, '127.0.0.1');
    const answers = new Answers(client, this.dice);
    let received: Buffer = Buffer.alloc(0);
    let before = Promise.resolve();
    for (const socket of [client, server]) {
      this.sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => {
        this.sockets.delete(socket);
        client.destroy();
        server.destroy();
      });
    }
    client.on('data', (bytes) => server.write(bytes));
    server.on('data', (bytes) => {
      received = Buffer.concat([received, bytes]);
      const { messages, rest } = messagesIn(received);
      received = rest;
      for (const answer of answers.take(messages)) {
        const fate = answer.at(-1)!.type === READY ? this.fate() : 'honest';
        before = before.then(() => answers.send(fate, answer));
      }
    });
  }
}

/** The responses of one connection. */
class Answers {
  private unfinished: Message[] = [];
  private before: Message[] | undefined;
  private isSilent = false;

  constructor(
    private readonly client: Socket,
    private readonly dice: Dice,
  ) {}

  /**
   * Returns the complete responses. A message that requires a reply, or that belongs to no request, counts as a
   * separate response.
   */
  take(messages: Message[]): Message[][] {
    const complete: Message[][] = [];
    for (const message of messages) {
      const isAlone = this.unfinished.length === 0 && isForNoStatement(message);
      if (isAlone) complete.push([message]);
      else this.unfinished.push(message);
      if (message.type === READY) complete.push(this.unfinished.splice(0));
    }
    return complete;
  }

  async send(fate: Fate, answer: Message[]): Promise<void> {
    const { before = answer } = this;
    if (answer.at(-1)!.type === READY) this.before = answer;
    switch (fate) {
      case 'cut':
        this.write(half(answer));
        await systemClock.sleep(5);
        this.client.destroy();
        return;
      case 'cut, and then silence':
        this.write(half(answer));
        this.isSilent = true;
        return;
      case 'doubled':
        return this.write(bytesOf([...answer, ...answer]));
      case 'empty':
        return this.write(bytesOf(answer.filter(({ type }) => type !== DATA_ROW)));
      case 'ended by the server':
        this.write(error('FATAL', '57P01', 'terminating connection due to administrator command'));
        await systemClock.sleep(5);
        this.client.destroy();
        return;
      case 'failed':
        return this.refuse(answer, 'XX000', 'internal error');
      case 'HTML':
        return this.write(Buffer.from(`HTTP/1.1 400 Bad Request\r\n\r\n<html>${CANARY}</html>`));
      case 'late':
        await systemClock.sleep(LATE_MS);
        return this.write(bytesOf(answer));
      case 'lost':
        this.client.destroy();
        return;
      case 'mutated values':
        return this.write(bytesOf(answer.map((message) => withMutatedValue(message, this.dice))));
      case 'no bytes of a message':
        return this.write(Buffer.concat([Buffer.from('?\0\0\0\x0d'), Buffer.from(CANARY.padEnd(9))]));
      case 'refused, quoting the request':
        return this.refuse(answer, '22P02', `not valid: ${CANARY}`);
      case 'silence':
        this.isSilent = true;
        return;
      case 'slow':
        return this.drip(bytesOf(answer));
      case 'the answer before':
        return this.write(bytesOf(before));
      case 'throttled':
        return this.refuse(answer, '53300', 'too many connections');
      case 'with notices':
        return this.write(Buffer.concat([error('NOTICE', '00000', CANARY, NOTICE), NOTIFY, bytesOf(answer)]));
      default:
        return this.write(bytesOf(answer));
    }
  }

  private refuse(answer: Message[], code: string, message: string): void {
    this.write(Buffer.concat([error('ERROR', code, message), answer.at(-1)!.bytes]));
  }

  private write(bytes: Buffer): void {
    if (!this.isSilent && !this.client.destroyed) this.client.write(bytes);
  }

  /** Sends a few bytes from time to time, so that the socket is never silent for long. */
  private async drip(bytes: Buffer): Promise<void> {
    const size = Math.ceil(bytes.length / DRIPS);
    for (let sent = 0; sent < bytes.length; sent += size) {
      this.write(bytes.subarray(sent, sent + size));
      await systemClock.sleep(DRIP_MS);
    }
  }
}

function messagesIn(bytes: Buffer): { messages: Message[]; rest: Buffer } {
  const messages: Message[] = [];
  let at = 0;
  while (bytes.length >= at + 5) {
    const end = at + 1 + bytes.readUInt32BE(at + 1);
    if (end > bytes.length) break;
    messages.push({ type: String.fromCharCode(bytes[at]!), bytes: bytes.subarray(at, end) });
    at = end;
  }
  return { messages, rest: bytes.subarray(at) };
}

function isForNoStatement({ type, bytes }: Message): boolean {
  return type === AUTHENTICATION || type === NOTIFICATION || (type === ERROR && bytes.includes('FATAL'));
}

function bytesOf(messages: readonly Message[]): Buffer {
  return Buffer.concat(messages.map(({ bytes }) => bytes));
}

function half(answer: readonly Message[]): Buffer {
  const bytes = bytesOf(answer);
  return bytes.subarray(0, Math.floor(bytes.length / 2));
}

function message(type: string, body: Buffer): Buffer {
  const head = Buffer.alloc(5, type);
  head.writeUInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
}

const NOTIFY = message(NOTIFICATION!, Buffer.from(`\0\0\0\x01outbox\0${CANARY}\0`));

function error(severity: string, code: string, text: string, type = ERROR!): Buffer {
  return message(type, Buffer.from(`S${severity}\0V${severity}\0C${code}\0M${text}\0D${CANARY}\0\0`));
}

/** Changes a column of a row, or the number of rows, in a complete message. */
function withMutatedValue({ type, bytes }: Message, dice: Dice): Message {
  if (type === COMMAND_COMPLETE) return { type, bytes: message(type, Buffer.from(`UPDATE ${dice.below(3)}\0`)) };
  if (type !== DATA_ROW || dice.chance(0.5)) return { type, bytes };
  const columns = columnsOf(bytes.subarray(5));
  const altered = dice.below(columns.length);
  columns[altered] = dice.chance(0.3) ? undefined : mutatedBytes(columns[altered] ?? Buffer.from(CANARY), dice);
  return { type, bytes: message(type, rowOf(columns)) };
}

function columnsOf(body: Buffer): (Buffer | undefined)[] {
  let at = 2;
  return Array.from({ length: body.readUInt16BE(0) }, () => {
    const length = body.readInt32BE(at);
    at += 4 + Math.max(0, length);
    return length < 0 ? undefined : body.subarray(at - length, at);
  });
}

function rowOf(columns: readonly (Uint8Array | undefined)[]): Buffer {
  const parts = columns.flatMap((column) => {
    const length = Buffer.alloc(4);
    length.writeInt32BE(column?.length ?? -1);
    return [length, column ?? Buffer.alloc(0)];
  });
  const count = Buffer.alloc(2);
  count.writeUInt16BE(columns.length);
  return Buffer.concat([count, ...parts]);
}
