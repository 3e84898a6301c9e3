import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { MAX_EVENT_BYTES } from '../../../lib/core/contract/kinesis-event';
import { EvenShardsError } from '../../../lib/core/kernel/errors';
import { LOCAL_ACCOUNT, LOCAL_REGION } from '../assembly/emulated-types';
import type { LocalFunction } from '../assembly/planned-function';
import { foreignRequestProblem, listenOnLoopback } from '../loopback';
import type { ReportProblem } from '../problem-lines';
import { errorText, type InvocationResult } from './function-process';
import { type FunctionReference, functionReference } from './function-reference';
import { versionOf } from './lambda-environment';

/** The part of a function that the server uses. */
interface Invocable {
  readonly definition: LocalFunction;
  /** @param qualifier the alias or version of the invocation, if the caller names one */
  invoke(payload: string, qualifier?: string): Promise<InvocationResult>;
}

/** The Lambda endpoint cannot listen on this port. */
export class PortUnavailableError extends EvenShardsError {
  constructor(
    readonly port: number,
    cause: NodeJS.ErrnoException,
  ) {
    const problem = cause.code === 'EADDRINUSE' ? 'is in use' : `cannot be listened on (${cause.message})`;
    super('PORT_UNAVAILABLE', `port ${port} ${problem}: use another port, or omit --port for a free port`, {
      cause,
    });
  }
}

/**
 * Serves Invoke and GetFunctionConfiguration of the Lambda API on the loopback interface. Port 0 selects a free port.
 *
 * @param reportProblem receives the failures of functions
 */
export async function startInvokeServer(
  port: number,
  functions: ReadonlyMap<string, Invocable>,
  reportProblem: ReportProblem = () => {},
): Promise<Server> {
  const server = createServer((request, response) => {
    answer(request, functions, reportProblem).then(
      (reply) => send(response, reply),
      (error) => send(response, refusal(error)),
    );
  });
  await listenOnLoopback(server, port).catch((cause) => {
    throw new PortUnavailableError(port, cause);
  });
  return server;
}

interface Reply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** An error of the Lambda API. */
class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly type: string,
    message: string,
  ) {
    super(message);
  }
}

/** The maximum payload size of each invocation type in Lambda, in bytes. */
const MAX_PAYLOAD_BYTES: Readonly<Record<string, number>> = {
  RequestResponse: MAX_EVENT_BYTES,
  Event: 1_048_576,
  DryRun: MAX_EVENT_BYTES,
};

async function answer(
  request: IncomingMessage,
  functions: ReadonlyMap<string, Invocable>,
  reportProblem: ReportProblem,
): Promise<Reply> {
  const problem = foreignRequestProblem(request.headers);
  if (problem !== undefined) throw new ApiError(403, 'AccessDeniedException', problem);
  const service = signedService(request);
  if (service !== 'lambda') return notEmulated(service, request);
  const { operation, name, qualifier } = requestedFunction(request);
  const invocable = functionNamed({ name, qualifier }, functions);
  if (operation === 'configuration') return configurationReply(invocable.definition);
  const type = invocationType(request);
  const payload = await readJson(request, MAX_PAYLOAD_BYTES[type]!);
  if (type === 'DryRun') return { status: 204 };
  const { path } = invocable.definition;
  const invoked = invocable.invoke(payload, qualifier).then((result) => {
    if (result.functionError) reportProblem(path, `${path} fails: ${errorText(result)}`);
    return result;
  });
  if (type === 'RequestResponse') {
    const { payload: body, functionError } = await invoked;
    const version = { 'X-Amz-Executed-Version': versionOf(invocable.definition, qualifier)! };
    return {
      status: 200,
      headers: { ...version, ...(functionError && { 'X-Amz-Function-Error': functionError }) },
      body,
    };
  }
  // The promise rejects only if the stack stops first.
  invoked.catch(() => {});
  return { status: 202 };
}

function functionNamed({ name, qualifier }: FunctionReference, functions: ReadonlyMap<string, Invocable>): Invocable {
  const found = functions.get(name);
  if (found !== undefined && versionOf(found.definition, qualifier) !== undefined) return found;
  const part = found === undefined ? '' : `:${qualifier}`;
  const arn = `arn:aws:lambda:${LOCAL_REGION}:${LOCAL_ACCOUNT}:function:${name}${part}`;
  throw new ApiError(404, 'ResourceNotFoundException', `Function not found: ${arn}`);
}

/** The service for which the SDK has signed a request. Without a signature, the request is for Lambda. */
function signedService({ headers: { authorization = '' } }: IncomingMessage): string {
  return /Credential=[^/]*\/\d+\/[^/]*\/([^/]+)\//.exec(authorization)?.[1] ?? 'lambda';
}

/** The response to a request for another service, which a program sends because of AWS_ENDPOINT_URL. */
function notEmulated(service: string, { headers }: IncomingMessage): Reply {
  const [code, message] = ['NotEmulated', `${service} is not emulated in a local run`];
  const isXml = service === 's3' || headers['content-type']?.startsWith('application/x-www-form-urlencoded');
  if (!isXml) return refusal(new ApiError(400, code, message));
  const body = `<ErrorResponse><Error><Code>${code}</Code><Message>${message}</Message></Error></ErrorResponse>`;
  return { status: 400, headers: { 'Content-Type': 'text/xml' }, body };
}

interface Requested extends FunctionReference {
  readonly operation: string;
}

function requestedFunction({ method, url = '' }: IncomingMessage): Requested {
  const [, name, operation = '', query] =
    /^\/2015-03-31\/functions\/([^/?]+)\/(invocations|configuration)(?:\?(.*))?$/.exec(url) ?? [];
  if (name === undefined || method !== (operation === 'invocations' ? 'POST' : 'GET')) {
    const message = `${method} ${url} is not emulated: the local Lambda endpoint has only Invoke and GetFunctionConfiguration`;
    throw new ApiError(404, 'UnknownOperationException', message);
  }
  const nameOrArn = decoded(name);
  const reference = functionReference(nameOrArn);
  if (reference === undefined)
    throw new ApiError(400, 'ValidationException', `${nameOrArn} is not a function name or ARN`);
  const qualifier = new URLSearchParams(query).get('Qualifier') ?? reference.qualifier;
  return { operation, ...reference, qualifier };
}

/**
 * Decodes a function name. If a name cannot be decoded, returns the name unchanged. This name matches no function,
 * because names and ARNs have no percent sign.
 */
function decoded(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

function invocationType({ headers }: IncomingMessage): string {
  const type = String(headers['x-amz-invocation-type'] ?? 'RequestResponse');
  if (Object.hasOwn(MAX_PAYLOAD_BYTES, type)) return type;
  const allowed = Object.keys(MAX_PAYLOAD_BYTES).join(', ');
  throw new ApiError(400, 'InvalidParameterValueException', `invocation type must be one of ${allowed}, got ${type}`);
}

async function readJson(request: IncomingMessage, limit: number): Promise<string> {
  const body = await buffer(request);
  if (body.byteLength > limit) {
    const message = `Request must be smaller than ${limit} bytes for the InvokeFunction operation`;
    throw new ApiError(413, 'RequestTooLargeException', message);
  }
  const payload = body.toString() || '{}';
  try {
    JSON.parse(payload);
    return payload;
  } catch (error) {
    const { message } = error as SyntaxError;
    throw new ApiError(400, 'InvalidRequestContentException', `Could not parse request body into json: ${message}`);
  }
}

function configurationReply({ name, arn, runtime, handler, environment, ...limits }: LocalFunction): Reply {
  const configuration = {
    FunctionName: name,
    FunctionArn: arn,
    Runtime: runtime,
    Handler: handler,
    Timeout: limits.timeoutSeconds,
    MemorySize: limits.memoryMb,
    Environment: { Variables: environment },
    Version: '$LATEST',
    PackageType: 'Zip',
    State: 'Active',
    LastUpdateStatus: 'Successful',
  };
  return { status: 200, body: JSON.stringify(configuration) };
}

function refusal(error: unknown): Reply {
  const { status, type, message } =
    error instanceof ApiError ? error : new ApiError(500, 'ServiceException', String(error));
  return {
    status,
    headers: { 'x-amzn-errortype': type },
    // Sets both fields, because some errors of the API have the field Message, and other errors have the field message.
    body: JSON.stringify({ Type: status < 500 ? 'User' : 'Service', Message: message, message }),
  };
}

function send(response: ServerResponse, { status, headers, body }: Reply): void {
  response.writeHead(status, { 'Content-Type': 'application/json', 'x-amzn-RequestId': randomUUID(), ...headers });
  response.end(body);
}
