/** What the SDK's clients tell of how they send requests. */
interface SdkClient {
  config?: { requestHandler?: { metadata?: { handlerProtocol?: string } } | null };
}

let hasWarned = false;

/** Warns, once a process, of a client whose handler speaks HTTP/2, as that of the SDK's Kinesis client does by default. */
export function warnOfHttp2(client: object): void {
  const protocol = (client as SdkClient).config?.requestHandler?.metadata?.handlerProtocol;
  if (hasWarned || protocol !== 'h2') return;
  hasWarned = true;
  process.emitWarning(
    'the Kinesis client opens a session for each request: its handler speaks HTTP/2; ' +
      'give it requestHandler: new NodeHttpHandler() of @smithy/node-http-handler, which keeps its connections',
    { code: 'EVEN_SHARDS_HTTP2_CLIENT' },
  );
}
