import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { Signer } from '@aws-sdk/rds-signer';
import { DATABASE_SECRET_ARN, DATABASE_USER } from '../../lib/core/contract/function-environment';
import { callWithin } from '../../lib/core/kernel/call-within';
import { isText } from '../../lib/core/kernel/checks';
import { EvenShardsError } from '../../lib/core/kernel/errors';
import { requiredEnvironment } from '../required-environment';
import { boundedHandler } from '../reshard-client';

/** The timeout for reading a password. */
const PASSWORD_MS = 10_000;

/** The secret could not be read in time, or does not have the format of RDS. The message does not quote the secret. */
class DatabaseSecretError extends EvenShardsError {
  constructor(problem: string, options?: ErrorOptions) {
    super('DATABASE_SECRET', `the secret of the database ${problem}`, options);
  }
}

interface Login {
  readonly username: string;
  readonly password: string;
}

/**
 * The user and the password of the database. Each connection reads a new password, because tokens expire after minutes
 * and secrets rotate. Only the first connection uses the secret that was read for the user name.
 *
 * @param withinMs the timeout for reading the user name
 */
export async function credentials(
  server: { host: string; port: number },
  withinMs: number,
): Promise<{ user: string; password: () => Promise<string> }> {
  const secretArn = process.env[DATABASE_SECRET_ARN];
  if (secretArn === undefined) {
    const user = requiredEnvironment(DATABASE_USER);
    const signer = new Signer({ hostname: server.host, port: server.port, username: user });
    return { user, password: () => signer.getAuthToken() };
  }
  const secrets = new SecretsManagerClient({ requestHandler: boundedHandler() });
  const read = async (limitMs: number): Promise<Login> => {
    const answer = await callWithin({ ms: limitMs }, (within) =>
      secrets.send(new GetSecretValueCommand({ SecretId: secretArn }), within),
    ).catch((cause: Error) => {
      if (cause.name !== 'TimeoutError') throw cause;
      throw new DatabaseSecretError(`could not be read: ${cause.message}`, { cause });
    });
    return loginOf(answer?.SecretString);
  };
  let unused: Login | undefined = await read(withinMs);
  const user = unused.username;
  return {
    user,
    password: async () => {
      const { password } = unused ?? (await read(PASSWORD_MS));
      unused = undefined;
      return password;
    },
  };
}

function loginOf(secret: unknown): Login {
  const { username, password }: Partial<Login> = Object(parsed(secret));
  for (const [field, value] of Object.entries({ username, password })) {
    if (isText(value)) continue;
    throw new DatabaseSecretError(`must be JSON with a ${field} that is a non-empty string`);
  }
  return { username: username!, password: password! };
}

function parsed(secret: unknown): unknown {
  try {
    return JSON.parse(String(secret));
  } catch {
    // The error of the parser would quote the secret.
    throw new DatabaseSecretError('must be JSON with a username and a password');
  }
}
