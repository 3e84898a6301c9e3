import { randomUUID } from 'node:crypto';
import type { RequestListener } from 'node:http';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { type ExpressionRequest, expressionProblem } from '../../../lib/core/aws-client/expression';

/** A request with fewer bytes cannot exceed a limit of expressions. */
const SHORTEST_BYTES = 256;

/** Rejects requests whose expressions exceed the limits of DynamoDB. dynalite does not check these limits. */
export function withExpressionLimits(serve: RequestListener): RequestListener {
  return (incoming, response) => {
    buffer(incoming).then(
      (body) => {
        const message = body.length < SHORTEST_BYTES ? undefined : problemIn(body);
        if (message === undefined) {
          const { method, url, headers, httpVersion } = incoming;
          const again = Object.assign(Readable.from([body], { objectMode: false }), {
            method,
            url,
            headers,
            httpVersion,
          });
          serve(again as never, response);
          return;
        }
        const output = { __type: 'com.amazon.coral.validate#ValidationException', message };
        response.writeHead(400, { 'content-type': 'application/x-amz-json-1.0', 'x-amzn-requestid': randomUUID() });
        response.end(JSON.stringify(output));
      },
      () => response.destroy(),
    );
  };
}

function problemIn(body: Buffer): string | undefined {
  for (const request of requestsIn(body)) {
    const problem = expressionProblem(Object(request));
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/**
 * The request, and the requests inside it if it is a batch or a transaction. Empty for a body that is not JSON,
 * because dynalite rejects such a body.
 */
function requestsIn(body: Buffer): ExpressionRequest[] {
  try {
    const input = Object(JSON.parse(body.toString()));
    const actions: object[] = Array.isArray(input.TransactItems) ? input.TransactItems : [];
    return [
      input,
      ...Object.values<ExpressionRequest>(Object(input.RequestItems)),
      ...actions.flatMap((action) => Object.values<ExpressionRequest>(Object(action))),
    ];
  } catch {
    return [];
  }
}
