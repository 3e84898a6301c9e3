import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { Signer } from '@aws-sdk/rds-signer';
import { DATABASE_SECRET_ARN, DATABASE_USER } from '../../lib/core/contract/function-environment';
import { callWithin } from '../../lib/core/kernel/call-within';
import { EvenShardsError } from '../../lib/core/kernel/errors';
import { requiredEnvironment } from '../required-environment';
import { boundedHandler } from '../reshard-client';

/** How long a connection waits for a password. */
const PASSWORD_MS = 10_000;

/** The secret could not be read in time, or does not have the form in which RDS writes secrets. Nothing of it is quoted. */
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
 * The user and the password with which to log in. They are asked for anew for each connection, because tokens last minutes
 * and secrets rotate. Only the first connection takes the secret that has just told the user.
 *
 * @param withinMs how long it may take to ask for the user
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
    if (typeof value === 'string' && value !== '') continue;
    throw new DatabaseSecretError(`must be JSON with a ${field} that is a text and not empty`);
  }
  return { username: username!, password: password! };
}

function parsed(secret: unknown): unknown {
  try {
    return JSON.parse(String(secret));
  } catch {
    // The parser's own error would quote the secret.
    throw new DatabaseSecretError('must be JSON with a username and a password');
  }
}
