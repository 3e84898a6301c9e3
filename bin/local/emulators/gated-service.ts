import { randomUUID } from 'node:crypto';
import {
  type ClientRequest,
  request as httpRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type RequestListener,
  type RequestOptions,
  type ServerResponse,
} from 'node:http';
import { buffer } from 'node:stream/consumers';
import { foreignRequestProblem } from '../loopback';
import { CBOR_CODEC, codecOf } from './codec';

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

export type Forward = (input: unknown) => Promise<ServiceAnswer>;

/**
 * Handles a call between a client and a service. A gate returns its own response, or forwards the same or a changed
 * request.
 */
export type Gate = (call: ServiceCall, forward: Forward) => Promise<ServiceAnswer>;

/** Sends a request to a service, without a gate. */
export type Call = (operation: string, input: unknown) => Promise<ServiceAnswer>;

/** How the API of a service names its operations and its protocol. */
export const APIS = {
  kinesis: { target: 'Kinesis_20131202', contentType: 'application/x-amz-json-1.1' },
  dynamodb: { target: 'DynamoDB_20120810', contentType: 'application/x-amz-json-1.0' },
  tableStreams: { target: 'DynamoDBStreams_20120810', contentType: 'application/x-amz-json-1.0' },
} as const;

/** Emulators require a signature but do not verify the signature. */
const OWN_SIGNATURE = {
  authorization:
    'AWS4-HMAC-SHA256 Credential=local/20200101/us-east-1/any/aws4_request, SignedHeaders=host, Signature=local',
  'x-amz-date': '20200101T000000Z',
};

/** A response of the service. The server passes the same bytes on if no gate replaces the response. */
class Forwarded implements ServiceAnswer {
  private decoded?: { readonly output: unknown };

  constructor(
    readonly status: number,
    readonly headers: IncomingHttpHeaders,
    readonly body: Buffer,
    private readonly requestType: string | undefined,
  ) {}

  get output(): ServiceAnswer['output'] {
    this.decoded ??= { output: this.body.byteLength === 0 ? {} : this.codec().decode(this.body) };
    return this.decoded.output;
  }

  /** Whether the bytes are as AWS would send them. kinesis-local sends the data of records in CBOR as base64 text. */
  isExact(): boolean {
    return codecOf(this.headers['content-type']) !== CBOR_CODEC;
  }

  private codec() {
    return codecOf(this.headers['content-type'] ?? this.requestType)!;
  }
}

/** An emulator, or another service that speaks the API of an AWS service. */
export class Service {
  constructor(
    readonly api: (typeof APIS)[keyof typeof APIS],
    /** How to connect to the service. */
    private readonly connection: RequestOptions,
  ) {}

  /** Sends a request of the caller itself. */
  readonly call: Call = (operation, input) => {
    const { contentType } = this.api;
    return this.forward(
      operation,
      { 'content-type': contentType, ...OWN_SIGNATURE },
      codecOf(contentType)!.encode(input),
    );
  };

  /** Sends the request of a client, with the headers of the client. */
  async forward(operation: string, headers: IncomingHttpHeaders, body: Uint8Array): Promise<ServiceAnswer> {
    const target = { 'x-amz-target': `${this.api.target}.${operation}` };
    const response = await this.send({ headers: { ...headers, ...target } }, body);
    const { statusCode, headers: received } = response;
    return new Forwarded(statusCode!, received, await buffer(response), headers['content-type']);
  }

  send(
    { method = 'POST', url = '/', headers }: Partial<IncomingMessage>,
    body: Uint8Array,
    onSent: (sent: ClientRequest) => void = () => {},
  ): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const { host: _, connection: __, 'transfer-encoding': ___, ...kept } = headers!;
      const own = { ...kept, 'content-length': body.byteLength };
      const sent = httpRequest({ ...this.connection, method, path: url, headers: own });
      onSent(sent.once('response', resolve).once('error', reject));
      sent.end(body);
    });
  }
}

/**
 * Serves a service behind a gate. The gate handles only the operations in `gated`, and all other requests pass
 * unchanged. Rejects requests from web pages or for other host names.
 */
export function gatedService(service: Service, gated: ReadonlySet<string>, gate: Gate): RequestListener {
  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const problem = foreignRequestProblem(request.headers);
    if (problem !== undefined) return reply(response, refusal('AccessDeniedException', problem, {}, 403), request);
    const body = await buffer(request);
    const operation = String(request.headers['x-amz-target'] ?? '').split('.')[1] ?? '';
    if (!gated.has(operation)) {
      const onSent = (sent: ClientRequest) => response.once('close', () => sent.destroy());
      return pass(await service.send(request, body, onSent), response);
    }
    const codec = codecOf(request.headers['content-type']);
    if (codec === undefined) return reply(response, refusal('SerializationException', ALLOWED_CONTENT_TYPES));
    let input: unknown;
    try {
      input = body.byteLength === 0 ? {} : codec.decode(body);
    } catch (error) {
      return reply(response, refusal('SerializationException', (error as Error).message), request);
    }
    const forward: Forward = (changed) =>
      service.forward(operation, request.headers, changed === input ? body : codec.encode(changed));
    reply(response, await gate({ operation, input: Object(input) }, forward), request);
  }

  /** Responds with the codec of the request. */
  function reply(response: ServerResponse, answered: ServiceAnswer, request?: IncomingMessage): void {
    if (answered instanceof Forwarded && answered.isExact()) {
      response.writeHead(answered.status, keptHeaders(answered.headers)).end(answered.body);
      return;
    }
    const requestType = request?.headers['content-type'];
    const type = codecOf(requestType) === undefined ? service.api.contentType : requestType!;
    response.writeHead(answered.status, { 'content-type': type, 'x-amzn-requestid': randomUUID() });
    response.end(codecOf(type)!.encode(answered.output));
  }

  return (request, response) => {
    answer(request, response).catch((error) => {
      if (response.headersSent) response.destroy();
      else reply(response, refusal('InternalFailure', String(error), {}, 500), request);
    });
  };
}

const ALLOWED_CONTENT_TYPES =
  'the content type must be application/x-amz-json-1.0, application/x-amz-json-1.1 or application/x-amz-cbor-1.1';

export function refusal(type: string, message: string, more: object = {}, status = 400): ServiceAnswer {
  return { status, output: { __type: type, message, ...more } };
}

/** The headers of a response without the headers of its connection. */
function keptHeaders(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  const { connection: _, 'keep-alive': __, 'transfer-encoding': ___, 'content-length': ____, ...kept } = headers;
  return kept;
}

function pass(from: IncomingMessage, to: ServerResponse): void {
  to.writeHead(from.statusCode!, keptHeaders(from.headers));
  from.on('error', () => to.destroy()).pipe(to);
}
