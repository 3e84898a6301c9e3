import { requestSigner, type SignHeaders } from './signature';

/** Where the SDK sends the requests of a table or of a stream, and how it signs them. */
export interface Route {
  target: { method: 'POST'; protocol: string; hostname: string; port?: number; path: '/' };
  unsignedHeaders: Record<string, string>;
  sign: SignHeaders;
}

/** The part of the AWS SDK's middleware stack that shows each request just before it is sent. */
export interface SdkMiddlewareStack {
  // biome-ignore lint/suspicious/noExplicitAny: the SDK types a middleware by the inputs and outputs of all its commands
  add(middleware: any, options: { step: 'finalizeRequest'; priority: 'low'; name: string; override: boolean }): void;
}

interface SdkRequest {
  protocol: string;
  hostname: string;
  port?: number;
  path: string;
  headers: Record<string, string>;
}

/** Which requests of a client have a route, and what decides it. */
export interface RoutedCommand<Input> {
  /** The name of the SDK's command. */
  readonly commandName: string;
  /** The table or the stream of a request. */
  resourceOf(input: Input): string;
}

type Next<T> = (args: { input: never; request: SdkRequest }) => T;

const routesOfClients = new WeakMap<object, Routes>();

/**
 * The routes of a client's requests, by table or by stream. It learns them from the requests that the client sends itself.
 * So only the SDK has to know what decides a route: the environment, the profile, the account of the credentials and more.
 */
export class Routes {
  private readonly routes = new Map<string, Route | undefined>();
  private readonly pending = new Map<string, Deferred>();

  /** The routes of a client. All light clients around one client of the SDK share them. */
  static of<Input>(client: { middlewareStack: SdkMiddlewareStack }, command: RoutedCommand<Input>): Routes {
    const known = routesOfClients.get(client) ?? new Routes(client.middlewareStack, command);
    routesOfClients.set(client, known);
    return known;
  }

  private constructor(middlewareStack: SdkMiddlewareStack, command: RoutedCommand<never>) {
    const observe = <T>(next: Next<T>, { commandName }: { commandName?: string }): Next<T> => {
      if (commandName !== command.commandName) return next;
      return (args) => {
        this.record(command.resourceOf(args.input), args.request);
        return next(args);
      };
    };
    middlewareStack.add(observe, {
      step: 'finalizeRequest',
      priority: 'low',
      name: 'evenShardsRoutes',
      override: true,
    });
  }

  /**
   * The route of a table or of a stream. Undefined if the SDK must send the request: because only the SDK can, or because it
   * is the first request, which shows the route. The caller then sends it and calls `asked`; other callers wait until then.
   */
  async find(resource: string): Promise<Route | undefined> {
    if (!this.routes.has(resource)) {
      const first = this.pending.get(resource);
      if (first === undefined) this.pending.set(resource, deferred());
      await first?.promise;
    }
    return this.routes.get(resource);
  }

  /** Call this when the SDK has sent a request of the table or of the stream, or has failed to send it. */
  asked(resource: string): void {
    this.pending.get(resource)?.resolve();
    this.pending.delete(resource);
  }

  private record(resource: string, request: SdkRequest): void {
    this.routes.set(resource, routeOf(request));
    this.asked(resource);
  }
}

interface Deferred {
  promise: Promise<void>;
  resolve(): void;
}

function deferred(): Deferred {
  let resolve = () => {};
  const promise = new Promise<void>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

/** Finds the region and the service in the authorization header of Signature Version 4. */
const AUTHORIZATION = /^AWS4-HMAC-SHA256 Credential=[^/]+\/\d{8}\/([^/]+)\/([^/]+)\/aws4_request,/;

/** Undefined for another kind of authorization, and for an endpoint with a path, which needs another signature. */
function routeOf({ protocol, hostname, port, path, headers }: SdkRequest): Route | undefined {
  const signed = AUTHORIZATION.exec(String(headers.authorization));
  if (signed === null || path !== '/') return undefined;
  const header = (name: string) => (headers[name] === undefined ? {} : { [name]: headers[name] });
  return {
    target: { method: 'POST', protocol, hostname, ...(port !== undefined && { port }), path },
    unsignedHeaders: header('user-agent'),
    sign: requestSigner(
      { region: signed[1]!, service: signed[2]! },
      // HTTP/2 has the host in a header of another name. AWS demands that one of them is signed: aws/aws-sdk-php#2469.
      { ...header('host'), ...header(':authority'), ...header('content-type'), ...header('x-amz-target') },
    ),
  };
}
