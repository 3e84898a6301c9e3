import { createHash, createHmac } from 'node:crypto';
import type { AwsCredentialIdentity, AwsCredentialIdentityProvider } from '@aws-sdk/types';
import { auth } from 'cassandra-driver';

/** The driver requires a subclass of this class, but its types declare an interface. */
const { AuthProvider } = auth as unknown as { AuthProvider: new () => auth.AuthProvider };

/** Authenticates to Amazon Keyspaces with IAM credentials instead of a user name and a password. */
export class SigV4AuthProvider extends AuthProvider {
  constructor(
    private readonly region: string,
    private readonly credentials: AwsCredentialIdentityProvider,
    private readonly now: () => Date = () => new Date(),
  ) {
    super();
  }

  override newAuthenticator(): SigV4Authenticator {
    return new SigV4Authenticator(this.region, this.credentials, this.now);
  }
}

type Respond = (error: Error | null, response?: Buffer) => void;

/**
 * Authenticates one connection. It requests SigV4, receives a nonce, and returns a signature. The signature is for a
 * PUT request to /authenticate with the hash of the nonce, and uses the provider's present credentials.
 *
 * Source: Amazon's authentication plug-ins for the Java, Python, Go and Node.js drivers.
 */
class SigV4Authenticator implements auth.Authenticator {
  constructor(
    private readonly region: string,
    private readonly credentials: AwsCredentialIdentityProvider,
    private readonly now: () => Date,
  ) {}

  initialResponse(respond: Respond): void {
    respond(null, Buffer.from('SigV4\0\0'));
  }

  evaluateChallenge(challenge: Buffer, respond: Respond): void {
    const nonce = /(?:^|,)nonce=([^,]+)/.exec(challenge.toString())?.[1];
    const signed =
      nonce === undefined
        ? Promise.reject(new Error('the challenge of Amazon Keyspaces has no nonce'))
        : this.credentials().then((credentials) => signedResponse(this.region, nonce, credentials, this.now()));
    signed.then((response) => respond(null, Buffer.from(response)), respond);
  }

  onAuthenticationSuccess(): void {}
}

const ALGORITHM = 'AWS4-HMAC-SHA256';
const SERVICE = 'cassandra';

/** Source: the IAM user guide, "Create a signed AWS API request". */
function signedResponse(region: string, nonce: string, credentials: AwsCredentialIdentity, now: Date): string {
  const { accessKeyId, secretAccessKey, sessionToken } = credentials;
  const time = now.toISOString();
  const day = time.slice(0, 10).replaceAll('-', '');
  const scope = `${day}/${region}/${SERVICE}/aws4_request`;
  const query = [
    `X-Amz-Algorithm=${ALGORITHM}`,
    `X-Amz-Credential=${encodeURIComponent(`${accessKeyId}/${scope}`)}`,
    `X-Amz-Date=${encodeURIComponent(time)}`,
    'X-Amz-Expires=900',
  ].join('&');
  const request = ['PUT', '/authenticate', query, `host:${SERVICE}`, '', 'host', sha256(nonce)].join('\n');
  const key = [day, region, SERVICE, 'aws4_request'].reduce<string | Buffer>(hmac, `AWS4${secretAccessKey}`);
  const signature = hmac(key, [ALGORITHM, time, scope, sha256(request)].join('\n')).toString('hex');
  const token = sessionToken === undefined ? '' : `,session_token=${sessionToken}`;
  return `signature=${signature},access_key=${accessKeyId},amzdate=${time}${token}`;
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}
