import { type Deferred, deferred } from '../kernel/deferred';
import { requestSigner, type SignHeaders } from './signature';

/** The endpoint, the headers and the signer of the requests for a table or a stream. */
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

/** The command whose requests have routes, and the resource that decides the route of a request. */
export interface RoutedCommand<Input> {
  readonly commandName: string;
  /** The table or the stream of a request. */
  resourceOf(input: Input): string;
}

type Next<T> = (args: { input: never; request: SdkRequest }) => T;

const routesOfClients = new WeakMap<object, Routes>();

/**
 * Learns the routes of a client, by table or by stream, from the requests that the client itself sends. So only the SDK resolves
 * the endpoint, which depends on the environment, the profile, the account of the credentials and more.
 */
export class Routes {
  private readonly routes = new Map<string, Route | undefined>();
  private readonly pending = new Map<string, Deferred<void>>();

  /** The routes of a client. All light clients around one client of the SDK share these routes. */
  static of<Input>(client: { middlewareStack: SdkMiddlewareStack }, command: RoutedCommand<Input>): Routes {
    const routes = routesOfClients.get(client) ?? new Routes(client.middlewareStack, command);
    routesOfClients.set(client, routes);
    return routes;
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
   * The route of a table or of a stream. Undefined if the caller must send the request with the SDK. `Routes` learns the route
   * from the first request that the SDK sends. If the light client cannot use the route, the SDK sends every request. After the
   * SDK has sent a request, the caller must call `sentWithSdk`. Other callers wait until the SDK has sent the first request.
   */
  async find(resource: string): Promise<Route | undefined> {
    if (!this.routes.has(resource)) {
      const first = this.pending.get(resource);
      if (first === undefined) this.pending.set(resource, deferred());
      await first?.promise;
    }
    return this.routes.get(resource);
  }

  /** Call this method when the SDK has sent a request to the table or the stream, or has failed to send the request. */
  sentWithSdk(resource: string): void {
    this.pending.get(resource)?.resolve();
    this.pending.delete(resource);
  }

  private record(resource: string, request: SdkRequest): void {
    this.routes.set(resource, routeOf(request));
    this.sentWithSdk(resource);
  }
}

/** Finds the region and the service in the authorization header of Signature Version 4. */
const AUTHORIZATION = /^AWS4-HMAC-SHA256 Credential=[^/]+\/\d{8}\/([^/]+)\/([^/]+)\/aws4_request,/;

/**
 * Derives the route from a request that the SDK sends. Undefined if the request is not signed with Signature Version 4. Also
 * undefined for an endpoint with a path, because the signer signs only requests to `/`.
 */
function routeOf({ protocol, hostname, port, path, headers }: SdkRequest): Route | undefined {
  const signed = AUTHORIZATION.exec(String(headers.authorization));
  if (signed === null || path !== '/') return undefined;
  const header = (name: string) => (headers[name] === undefined ? {} : { [name]: headers[name] });
  return {
    target: { method: 'POST', protocol, hostname, ...(port !== undefined && { port }), path },
    unsignedHeaders: header('user-agent'),
    sign: requestSigner(
      { region: signed[1]!, service: signed[2]! },
      // The host is in the header `host` for HTTP/1.1, and in `:authority` for HTTP/2. AWS requires that one of these two
      // headers is signed: aws/aws-sdk-php#2469.
      { ...header('host'), ...header(':authority'), ...header('content-type'), ...header('x-amz-target') },
    ),
  };
}
