/** The part of an SDK client that shows its protocol. */
interface SdkClient {
  config?: { requestHandler?: { metadata?: { handlerProtocol?: string } } | null };
}

let hasWarned = false;

/** Warns once per process about a client that uses HTTP/2, which is the default of the SDK's Kinesis client. */
export function warnOfHttp2(client: object): void {
  const protocol = (client as SdkClient).config?.requestHandler?.metadata?.handlerProtocol;
  if (hasWarned || protocol !== 'h2') return;
  hasWarned = true;
  process.emitWarning(
    'the Kinesis client uses HTTP/2 and opens a session for each request; ' +
      'pass it requestHandler: new NodeHttpHandler() of @smithy/node-http-handler, which reuses connections',
    { code: 'EVEN_SHARDS_HTTP2_CLIENT' },
  );
}
