import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
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
import { codecOf, JSON_CODEC } from './codec';

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
    const [response] = await once(this.send({ headers: { ...headers, ...target } }, body), 'response');
    const answered = await buffer(response);
    const codec = codecOf(response.headers['content-type'] ?? headers['content-type'])!;
    return { status: response.statusCode, output: answered.byteLength === 0 ? {} : codec.decode(answered) };
  }

  send({ method = 'POST', url = '/', headers }: Partial<IncomingMessage>, body: Uint8Array): ClientRequest {
    const { host: _, ...kept } = keptHeaders(headers!);
    const own = { ...kept, 'content-length': body.byteLength };
    const sent = httpRequest({ ...this.connection, method, path: url, headers: own });
    return sent.on('error', () => {}).end(body);
  }
}

type Operations = Pick<ReadonlySet<string>, 'has'>;

/** A request without an operation is not a request to the API, such as the health check of dynalite. */
export const EVERY_OPERATION: Operations = { has: (operation) => operation !== '' };

/**
 * Serves a service behind a gate. The gate handles only the operations in `gated`, and all other requests pass
 * unchanged. Rejects requests from web pages or for other host names.
 */
export function gatedService(service: Service, gated: Operations, gate: Gate): RequestListener {
  async function answer(request: IncomingMessage, response: ServerResponse): Promise<ServiceAnswer | undefined> {
    const problem = foreignRequestProblem(request.headers);
    if (problem !== undefined) return refusal('AccessDeniedException', problem, {}, 403);
    const body = await buffer(request);
    const operation = String(request.headers['x-amz-target'] ?? '').split('.')[1] ?? '';
    if (!gated.has(operation)) {
      const sent = service.send(request, body);
      response.once('close', () => sent.destroy());
      const [answered]: IncomingMessage[] = await once(sent, 'response');
      response.writeHead(answered!.statusCode!, keptHeaders(answered!.headers));
      return void answered!.on('error', () => response.destroy()).pipe(response);
    }
    const codec = codecOf(request.headers['content-type']);
    if (codec === undefined) return refusal('SerializationException', ALLOWED_CONTENT_TYPES);
    let input: unknown;
    try {
      input = body.byteLength === 0 ? {} : codec.decode(body);
    } catch (error) {
      return refusal('SerializationException', (error as Error).message);
    }
    const forward: Forward = (changed) =>
      service.forward(operation, request.headers, changed === input ? body : codec.encode(changed));
    return gate({ operation, input: Object(input) }, forward);
  }

  return async (request, response) => {
    const answered = await answer(request, response).catch((error) =>
      refusal('InternalFailure', String(error), {}, 500),
    );
    if (answered === undefined) return;
    const codec = codecOf(request.headers['content-type']);
    const type = codec === undefined ? service.api.contentType : request.headers['content-type'];
    response.writeHead(answered.status, { 'content-type': type, 'x-amzn-requestid': randomUUID() });
    response.end((codec ?? JSON_CODEC).encode(answered.output));
  };
}

const ALLOWED_CONTENT_TYPES =
  'the content type must be application/x-amz-json-1.0, application/x-amz-json-1.1 or application/x-amz-cbor-1.1';

export function ok(output: object): ServiceAnswer {
  return { status: 200, output };
}

/** The response of DynamoDB to an invalid request. */
export function invalid(message: string): ServiceAnswer {
  return refusal('com.amazon.coral.validate#ValidationException', message);
}

export function refusal(type: string, message: string, more: object = {}, status = 400): ServiceAnswer {
  return { status, output: { __type: type, message, ...more } };
}

/** The headers of a request or a response without the headers of its connection, which differ in HTTP/2. */
function keptHeaders(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !OF_THE_CONNECTION.test(name)));
}

const OF_THE_CONNECTION = /^(:.*|connection|content-length|keep-alive|transfer-encoding)$/;
