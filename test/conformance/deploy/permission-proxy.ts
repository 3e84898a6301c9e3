import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A proxy of an account. It records the IAM action of each request, and can deny an action. moto enforces no permissions. */
export class PermissionProxy {
  static async open(account: string): Promise<PermissionProxy> {
    const proxy = new PermissionProxy(new URL(account));
    proxy.server.listen(0, '127.0.0.1');
    await once(proxy.server, 'listening');
    return proxy;
  }

  /** The actions of the requests since the last time that the set was cleared. */
  readonly actions = new Set<string>();
  /** The denied action. */
  denied: string | undefined;

  private readonly server = createServer((message, response) => void this.answer(message, response));

  private constructor(private readonly account: URL) {}

  get endpoint(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  close(): void {
    this.server.closeAllConnections();
    this.server.close();
  }

  private async answer(message: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of message) chunks.push(chunk);
    const body = Buffer.concat(chunks);
    const action = actionOf(message, body);
    this.actions.add(action);
    if (action === this.denied) {
      const text = `User: arn:aws:iam::123456789012:user/reader is not authorized to perform: ${action}`;
      return void deny(response, text, message.headers['x-amz-target'] === undefined);
    }
    const { hostname, port } = this.account;
    const { method, url: path, headers } = message;
    const passed = request({ hostname, port, method, path, headers }, (answer) => {
      response.writeHead(answer.statusCode!, answer.headers);
      answer.pipe(response);
    });
    passed.on('error', () => response.destroy());
    passed.end(body);
  }
}

/** The services, by the prefix of the target of a request. */
const SERVICES: Record<string, string> = {
  DynamoDB_20120810: 'dynamodb',
  Kinesis_20131202: 'kinesis',
  GraniteServiceVersion20100801: 'cloudwatch',
};

function actionOf({ headers }: IncomingMessage, body: Buffer): string {
  const [service = '', operation = ''] = String(headers['x-amz-target'] ?? '').split('.');
  if (service in SERVICES) return `${SERVICES[service]}:${operation}`;
  return `cloudformation:${new URLSearchParams(body.toString()).get('Action')}`;
}

/** The error as the JSON protocols and the query protocol have it. */
function deny(response: ServerResponse, message: string, isQuery: boolean): void {
  if (isQuery) {
    response.writeHead(403, { 'content-type': 'text/xml' });
    response.end(
      `<ErrorResponse><Error><Type>Sender</Type><Code>AccessDenied</Code><Message>${message}</Message></Error></ErrorResponse>`,
    );
  } else {
    response.writeHead(400, { 'content-type': 'application/x-amz-json-1.0' });
    response.end(JSON.stringify({ __type: 'com.amazon.coral.service#AccessDeniedException', message }));
  }
}
