import { SecretsManager } from '@aws-sdk/client-secrets-manager';
import { Signer } from '@aws-sdk/rds-signer';
import { DATABASE_SECRET_ARN, DATABASE_USER } from '../../lib/core/foundation/function-environment';
import { requiredEnvironment } from '../required-environment';

/** Whom to log in as, and what says so: asked anew for each connection, for tokens last minutes and secrets rotate. */
export async function credentials(server: { host: string; port: number }): Promise<{
  user: string;
  password: () => Promise<string>;
}> {
  const secretArn = process.env[DATABASE_SECRET_ARN];
  if (secretArn === undefined) {
    const user = requiredEnvironment(DATABASE_USER);
    const signer = new Signer({ hostname: server.host, port: server.port, username: user });
    return { user, password: () => signer.getAuthToken() };
  }
  const secrets = new SecretsManager({});
  const read = async (): Promise<{ username: string; password: string }> =>
    JSON.parse((await secrets.getSecretValue({ SecretId: secretArn })).SecretString ?? '{}');
  return { user: (await read()).username, password: async () => (await read()).password };
}
