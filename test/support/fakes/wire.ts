import { Readable } from 'node:stream';

/** A request as the client would send it. */
export interface SentRequest {
  protocol: string;
  hostname: string;
  port?: number;
  path: string;
  headers: Record<string, string>;
  body: string;
}

/** The response of the endpoint. */
export type Answer = { statusCode: number; body: object | string } | Error;

/**
 * A request handler of an SDK client. It records the requests and whether the SDK or the light client has built them.
 */
export class Wire {
  readonly requests: SentRequest[] = [];
  /** The field by which the SDK detects the protocol of a handler. */
  metadata = { handlerProtocol: 'http/1.1' };
  answer: (request: SentRequest, number: number) => Answer = () => ({ statusCode: 200, body: {} });

  headers: (text: string) => Record<string, string> = () => ({});
  toBody: (text: string) => unknown = (text) => Readable.from([Buffer.from(text)]);

  async handle(request: SentRequest) {
    // The body is bytes from the SDK and a string from the light client.
    const body = typeof request.body === 'string' ? request.body : Buffer.concat([request.body]).toString();
    this.requests.push({ ...request, body });
    const answer = this.answer({ ...request, body }, this.requests.length);
    await new Promise(setImmediate);
    if (answer instanceof Error) throw answer;
    const text = typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body);
    return { response: { statusCode: answer.statusCode, headers: this.headers(text), body: this.toBody(text) } };
  }

  /** Only the SDK numbers its attempts. */
  get senders(): string[] {
    return this.requests.map(({ headers }) => ('amz-sdk-request' in headers ? 'SDK' : 'light'));
  }
}
