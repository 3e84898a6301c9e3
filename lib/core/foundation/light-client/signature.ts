import { createHmac, hash } from 'node:crypto';

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

/** Returns all headers of a signed request: the given headers and those of the signature. */
export type SignHeaders = (
  headers: Record<string, string>,
  body: string | Uint8Array,
  credentials: SigningCredentials,
  at: Date,
) => Record<string, string>;

const ALGORITHM = 'AWS4-HMAC-SHA256';

/**
 * Signs `POST /` requests with AWS Signature Version 4. Header names must be in lower case. Every given header is
 * signed.
 *
 * The signing key takes four hashes, and is valid for a day, a region and a service. So it is derived once and kept.
 *
 * @see https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html
 */
export function requestSigner({ region, service }: SigningScope): SignHeaders {
  let cached: { secret: string; scope: string; key: Buffer } | undefined;
  const signingKey = (secret: string, scope: string): Buffer => {
    if (cached?.secret !== secret || cached.scope !== scope) {
      const key = scope.split('/').reduce<string | Buffer>((parent, part) => hmac(parent, part), `AWS4${secret}`);
      cached = { secret, scope, key: key as Buffer };
    }
    return cached.key;
  };
  return (headers, body, { accessKeyId, secretAccessKey, sessionToken }, at) => {
    const time = at.toISOString().replace(/[-:]|\.\d{3}/g, '');
    const scope = `${time.slice(0, 8)}/${region}/${service}/aws4_request`;
    const signed: Record<string, string> = {
      ...headers,
      'x-amz-date': time,
      ...(sessionToken !== undefined && { 'x-amz-security-token': sessionToken }),
    };
    const names = Object.keys(signed).sort();
    const canonicalHeaders = names.map((name) => `${name}:${signed[name]}\n`).join('');
    const signedHeaders = names.join(';');
    const canonicalRequest = `POST\n/\n\n${canonicalHeaders}\n${signedHeaders}\n${sha256(body)}`;
    const text = `${ALGORITHM}\n${time}\n${scope}\n${sha256(canonicalRequest)}`;
    const signature = hmac(signingKey(secretAccessKey, scope), text).toString('hex');
    signed.authorization = `${ALGORITHM} Credential=${accessKeyId}/${scope}, SignedHeaders=${signedHeaders}, Signature=${signature}`;
    return signed;
  };
}

function sha256(text: string | Uint8Array): string {
  return hash('sha256', text);
}

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}
