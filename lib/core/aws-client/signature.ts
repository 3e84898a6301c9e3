import { createHmac, type Hmac, hash } from 'node:crypto';

/** The credentials that sign a request. */
export interface SigningCredentials {
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken?: string;
}

/** The region and the service that a signature is valid for. */
interface SigningScope {
  region: string;
  service: string;
}

/** Returns all headers of a signed request: the headers that the signer got, and the headers of the signature. */
export type SignHeaders = (
  body: string | Uint8Array,
  credentials: SigningCredentials,
  at: Date,
) => Record<string, string>;

/** The parts of a signed request that all requests of one second share. */
interface SecondOfRequests {
  readonly second: number;
  readonly credentials: SigningCredentials;
  readonly headers: Record<string, string>;
  /** The canonical request, up to the hash of the body. */
  readonly request: string;
  /** The text to sign, up to the hash of the canonical request. */
  readonly text: string;
  readonly key: Buffer;
  /** The authorization, up to the signature. */
  readonly authorization: string;
}

const ALGORITHM = 'AWS4-HMAC-SHA256';

/**
 * Signs `POST /` requests with AWS Signature Version 4. Header names must be in lower case. Every given header is signed.
 *
 * Requests of one second with the same credentials differ only in their bodies, so the signer computes all other parts once.
 *
 * @see https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html
 */
export function requestSigner(scope: SigningScope, headers: Readonly<Record<string, string>>): SignHeaders {
  let last: SecondOfRequests | undefined;
  return (body, credentials, at) => {
    if (last === undefined || last.second !== secondOf(at) || !isSame(last.credentials, credentials)) {
      last = secondOfRequests(scope, headers, credentials, at);
    }
    const text = last.text + sha256(last.request + sha256(body));
    return { ...last.headers, authorization: last.authorization + hmac(last.key, text).digest('hex') };
  };
}

function secondOfRequests(
  { region, service }: SigningScope,
  given: Readonly<Record<string, string>>,
  credentials: SigningCredentials,
  at: Date,
): SecondOfRequests {
  const { accessKeyId, secretAccessKey, sessionToken } = credentials;
  const time = at.toISOString().replace(/[-:]|\.\d{3}/g, '');
  const scope = `${time.slice(0, 8)}/${region}/${service}/aws4_request`;
  const headers: Record<string, string> = {
    ...given,
    'x-amz-date': time,
    ...(sessionToken !== undefined && { 'x-amz-security-token': sessionToken }),
  };
  const names = Object.keys(headers).sort();
  const canonicalHeaders = names.map((name) => `${name}:${headers[name]}\n`).join('');
  const signedHeaders = names.join(';');
  const key = scope
    .split('/')
    .reduce<string | Buffer>((parent, part) => hmac(parent, part).digest(), `AWS4${secretAccessKey}`);
  return {
    second: secondOf(at),
    credentials: { accessKeyId, secretAccessKey, sessionToken },
    headers,
    request: `POST\n/\n\n${canonicalHeaders}\n${signedHeaders}\n`,
    text: `${ALGORITHM}\n${time}\n${scope}\n`,
    key: key as Buffer,
    authorization: `${ALGORITHM} Credential=${accessKeyId}/${scope}, SignedHeaders=${signedHeaders}, Signature=`,
  };
}

function secondOf(at: Date): number {
  return Math.floor(at.getTime() / 1_000);
}

function isSame(a: SigningCredentials, b: SigningCredentials): boolean {
  return (
    a.accessKeyId === b.accessKeyId && a.secretAccessKey === b.secretAccessKey && a.sessionToken === b.sessionToken
  );
}

function sha256(text: string | Uint8Array): string {
  return hash('sha256', text);
}

function hmac(key: string | Buffer, text: string): Hmac {
  return createHmac('sha256', key).update(text);
}
