/** Reads the whole body of a response, from any request handler of the SDK. */
export function bodyBytes(body: unknown): Promise<Buffer> {
  if (isNodeStream(body)) return streamBytes(body);
  // The body is a web stream, a blob or undefined.
  return new Response(body as ConstructorParameters<typeof Response>[0])
    .arrayBuffer()
    .then((bytes) => Buffer.from(bytes));
}

function isNodeStream(body: unknown): body is NodeJS.ReadableStream {
  return typeof (body as NodeJS.ReadableStream | undefined)?.on === 'function';
}

/**
 * Reads the body from the events of the stream, because the iterator of a stream takes as much time as the parsing of the body.
 */
function streamBytes(body: NodeJS.ReadableStream): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    body.on('data', (chunk: Buffer) => chunks.push(chunk));
    body.on('end', () => resolve(Buffer.concat(chunks)));
    body.on('error', reject);
    // After `end`, this rejection has no effect.
    body.on('close', () =>
      reject(Object.assign(new Error('the body of the response was cut off'), { code: 'ECONNRESET' })),
    );
  });
}
