import { randomUUID } from 'node:crypto';
import {
  Agent,
  createServer,
  request as httpRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import { closeServer, endpointOf, foreignRequestProblem, listenOnLoopback } from '../loopback';
import { codecOf } from './codec';

/** A decoded request to an AWS service whose API uses JSON or CBOR. */
export interface ServiceCall {
  /** The name of the operation, such as `PutRecords`. */
  readonly operation: string;
  // biome-ignore lint/suspicious/noExplicitAny: an input is its operation's
  readonly input: any;
}

export interface ServiceAnswer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: an output is its operation's
  readonly output: any;
}

/**
 * Handles a call between a client and a service. A gate returns its own response, or forwards the same or a changed
 * request.
 */
export type Gate = (call: ServiceCall, forward: (input: unknown) => Promise<ServiceAnswer>) => Promise<ServiceAnswer>;

export interface ServiceProxy {
  readonly endpoint: string;
  /** Sends a request of the proxy itself, without the gate. */
  call(operation: string, input: unknown): Promise<ServiceAnswer>;
  stop(): Promise<void>;
}

interface ServiceProxyOptions {
  /** The URL of the service. */
  readonly endpoint: string;
  /** The prefix of the operations in `X-Amz-Target`. */
  readonly target: string;
  /** The version of the JSON protocol. */
  readonly json: '1.0' | '1.1';
  /** The operations that the gate handles. All other operations pass unchanged. */
  readonly gated: ReadonlySet<string>;
}

/**
 * Headers that describe the body of a response. The proxy does not copy these headers, because they would be wrong for
 * a changed body.
 */
const HEADERS_OF_THE_BODY = new Set(['content-length', 'transfer-encoding', 'connection', 'x-amz-crc32']);

/** Emulators require a signature but do not verify the signature. */
const OWN_SIGNATURE = {
  authorization:
    'AWS4-HMAC-SHA256 Credential=local/20200101/us-east-1/any/aws4_request, SignedHeaders=host, Signature=local',
  'x-amz-date': '20200101T000000Z',
};

/** The connection of a proxy to its service. */
class ServiceConnection {
  private readonly agent = new Agent({ keepAlive: true });

  constructor(
    private readonly endpoint: string,
    private readonly target: string,
  ) {}

  send(headers: IncomingHttpHeaders, body: Buffer): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const { host: _, ...kept } = headers;
      const sent = httpRequest(this.endpoint, {
        agent: this.agent,
        method: 'POST',
        headers: { ...kept, 'content-length': body.byteLength },
      });
      sent.once('response', resolve).once('error', reject).end(body);
    });
  }

  /** Encodes an input with the codec in the headers, sends the request, and decodes the response. */
  async call(operation: string, headers: IncomingHttpHeaders, input: unknown): Promise<ServiceAnswer> {
    const encoded = Buffer.from(codecOf(headers['content-type'])!.encode(input));
    const response = await this.send({ ...headers, 'x-amz-target': `${this.target}.${operation}` }, encoded);
    const body = await read(response);
    const codec = codecOf(response.headers['content-type'] ?? headers['content-type']);
    return { status: response.statusCode!, output: body.byteLength === 0 ? {} : codec!.decode(body) };
  }

  close(): void {
    this.agent.destroy();
  }
}

/** Listens on the loopback interface in front of a service, and passes requests through a gate. */
export async function startServiceProxy(
  { endpoint, target, json, gated }: ServiceProxyOptions,
  gateFor: (proxy: Pick<ServiceProxy, 'call'>) => Gate,
): Promise<ServiceProxy> {
  const service = new ServiceConnection(endpoint, target);
  const contentType = `application/x-amz-json-${json}`;
  const own = { 'content-type': contentType, ...OWN_SIGNATURE };
  const proxy = { call: (operation: string, input: unknown) => service.call(operation, own, input) };
  const gate = gateFor(proxy);

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const problem = foreignRequestProblem(request.headers);
    if (problem !== undefined) return reply(response, refusal('AccessDeniedException', problem, {}, 403), request);
    const body = await read(request);
    const operation = String(request.headers['x-amz-target'] ?? '').split('.')[1] ?? '';
    if (!gated.has(operation)) return pass(await service.send(request.headers, body), response);
    const codec = codecOf(request.headers['content-type']);
    if (codec === undefined) return reply(response, refusal('SerializationException', ALLOWED_CONTENT_TYPES));
    let input: unknown;
    try {
      input = body.byteLength === 0 ? {} : codec.decode(body);
    } catch (error) {
      return reply(response, refusal('SerializationException', (error as Error).message), request);
    }
    const passed = await gate({ operation, input }, (changed) => service.call(operation, request.headers, changed));
    reply(response, passed, request);
  }

  /** Responds with the codec of the request. */
  function reply(response: ServerResponse, { status, output }: ServiceAnswer, request?: IncomingMessage): void {
    const requestType = request?.headers['content-type'];
    const type = codecOf(requestType) === undefined ? contentType : requestType!;
    response.writeHead(status, { 'content-type': type, 'x-amzn-requestid': randomUUID() });
    response.end(codecOf(type)!.encode(output));
  }

  const server = createServer((request, response) => {
    answer(request, response).catch((error) => {
      if (response.headersSent) response.destroy();
      else reply(response, refusal('InternalFailure', String(error), {}, 500), request);
    });
  });
  await listenOnLoopback(server);
  return {
    ...proxy,
    endpoint: endpointOf(server),
    stop: async () => {
      const closed = closeServer(server);
      service.close();
      await closed;
    },
  };
}

const ALLOWED_CONTENT_TYPES =
  'the content type must be application/x-amz-json-1.0, application/x-amz-json-1.1 or application/x-amz-cbor-1.1';

export function refusal(type: string, message: string, more: object = {}, status = 400): ServiceAnswer {
  return { status, output: { __type: type, message, ...more } };
}

function pass(from: IncomingMessage, to: ServerResponse): void {
  const headers = Object.entries(from.headers).filter(
    ([name]) => name === 'x-amz-crc32' || !HEADERS_OF_THE_BODY.has(name),
  );
  to.writeHead(from.statusCode!, Object.fromEntries(headers) as Record<string, string>);
  from.pipe(to);
}

async function read(stream: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks);
}
