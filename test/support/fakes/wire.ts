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
 * A request handler of an SDK client. It records each request, and whether the SDK or the light client has built the
 * request.
 */
export class Wire {
  readonly requests: SentRequest[] = [];
  /** The SDK reads the protocol of a handler from this field. */
  metadata = { handlerProtocol: 'http/1.1' };
  answer: (request: SentRequest, number: number) => Answer = () => ({ statusCode: 200, body: {} });

  headers: (text: string) => Record<string, string> = () => ({});

  async handle(request: SentRequest) {
    // The SDK sends the body as bytes, and the light client sends a string.
    const body = typeof request.body === 'string' ? request.body : Buffer.concat([request.body]).toString();
    this.requests.push({ ...request, body });
    const answer = this.answer({ ...request, body }, this.requests.length);
    await new Promise(setImmediate);
    if (answer instanceof Error) throw answer;
    const text = typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body);
    return {
      response: {
        statusCode: answer.statusCode,
        headers: this.headers(text),
        body: Readable.from([Buffer.from(text)]),
      },
    };
  }

  /**
   * Whether the SDK or the light client has sent each request. Only the SDK adds a header with the number of the
   * attempt.
   */
  get senders(): string[] {
    return this.requests.map(({ headers }) => ('amz-sdk-request' in headers ? 'SDK' : 'light'));
  }
}
