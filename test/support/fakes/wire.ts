import { Readable } from 'node:stream';

/** A request as it would leave. */
export interface SentRequest {
  protocol: string;
  hostname: string;
  port?: number;
  path: string;
  headers: Record<string, string>;
  body: string;
}

/** What comes back. */
export type Answer = { statusCode: number; body: object | string } | Error;

/** The far end of a client of the SDK, as its request handler: what was sent, and who built it. */
export class Wire {
  readonly requests: SentRequest[] = [];
  /** What the SDK reads of a handler to know its protocol. */
  metadata = { handlerProtocol: 'http/1.1' };
  answer: (request: SentRequest, number: number) => Answer = () => ({ statusCode: 200, body: {} });

  headers: (text: string) => Record<string, string> = () => ({});
  toBody: (text: string) => unknown = (text) => Readable.from([Buffer.from(text)]);

  async handle(request: SentRequest) {
    // The SDK's own body is bytes, ours is text.
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
