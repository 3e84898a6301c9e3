/** The whole body of an answer, as any request handler of the SDK gives it. */
export function bodyBytes(body: unknown): Promise<Buffer> {
  if (isNodeStream(body)) return streamBytes(body);
  // A web stream, a blob or nothing.
  return new Response(body as ConstructorParameters<typeof Response>[0])
    .arrayBuffer()
    .then((bytes) => Buffer.from(bytes));
}

function isNodeStream(body: unknown): body is NodeJS.ReadableStream {
  return typeof (body as NodeJS.ReadableStream | undefined)?.on === 'function';
}

/** It uses events because a stream's iterator would cost as much as parsing the body. */
function streamBytes(body: NodeJS.ReadableStream): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    body.on('data', (chunk: Buffer) => chunks.push(chunk));
    body.on('end', () => resolve(Buffer.concat(chunks)));
    body.on('error', reject);
    // This says nothing of a body that has ended.
    body.on('close', () =>
      reject(Object.assign(new Error('the body of the answer was cut off'), { code: 'ECONNRESET' })),
    );
  });
}
