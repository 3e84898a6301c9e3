import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { inspect } from 'node:util';
import { credentials } from '../../../../lambda/outbox-relay/credentials';

/** The server of the tests. The tests sign IAM tokens locally, with credentials from environment variables. */
const SERVER = { host: 'relay.proxy-abc.eu-west-1.rds.amazonaws.com', port: 5432 };

describe('credentials of the relay', () => {
  const before = { ...process.env };
  let secrets: Server;
  let requests: string[];
  let password: string;
  let result: object | Promise<object> | undefined;

  beforeEach(async () => {
    requests = [];
    password = 'first';
    result = undefined;
    secrets = createServer(async (request, response) => {
      let body = '';
      for await (const chunk of request) body += chunk;
      requests.push(JSON.parse(body).SecretId);
      response.setHeader('content-type', 'application/x-amz-json-1.1');
      const login = { SecretString: JSON.stringify({ username: 'app', password }) };
      response.end(JSON.stringify((await result) ?? login));
    }).listen(0, '127.0.0.1');
    await once(secrets, 'listening');
    Object.assign(process.env, {
      AWS_REGION: 'eu-west-1',
      AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE',
      AWS_SECRET_ACCESS_KEY: 'secret',
      AWS_ENDPOINT_URL_SECRETS_MANAGER: `http://127.0.0.1:${(secrets.address() as AddressInfo).port}`,
    });
  });
  afterEach(() => {
    secrets.close();
    process.env = { ...before };
  });

  test('from a secret contain the user, and the current password for each new connection', async () => {
    process.env.EVEN_SHARDS_DATABASE_SECRET_ARN = 'arn:aws:secretsmanager:eu-west-1:111111111111:secret:relay';
    const { user, password: currentPassword } = await credentials(SERVER, 5_000);
    expect([user, await currentPassword()]).toEqual(['app', 'first']);
    expect(requests).toEqual([process.env.EVEN_SHARDS_DATABASE_SECRET_ARN]);
    password = 'second';
    expect(await currentPassword()).toBe('second');
    password = 'third';
    expect(await currentPassword()).toBe('third');
    expect(new Set(requests)).toEqual(new Set([process.env.EVEN_SHARDS_DATABASE_SECRET_ARN]));
  });

  test('with IAM contain a signed token for the user and the server, for each new connection', async () => {
    process.env.EVEN_SHARDS_DATABASE_USER = 'relay';
    const { user, password: currentPassword } = await credentials(SERVER, 5_000);
    expect(user).toBe('relay');
    const token = new URL(`https://${await currentPassword()}`);
    expect(token.host).toBe(`${SERVER.host}:${SERVER.port}`);
    expect(Object.fromEntries(token.searchParams)).toMatchObject({
      Action: 'connect',
      DBUser: 'relay',
      'X-Amz-Credential': expect.stringMatching(/^AKIDEXAMPLE\/\d{8}\/eu-west-1\/rds-db\/aws4_request$/),
      'X-Amz-Expires': '900',
    });
    expect(requests).toEqual([]);
  });

  test.each([
    ['no SecretString', undefined],
    ['a text that is not JSON', 'hunter2'],
    ['no user', '{"password":"hunter2"}'],
    ['a password that is not a text', '{"username":"app","password":["hunter2"]}'],
  ])('from a secret with %s are rejected with an error that contains no data of the secret', async (_, secret) => {
    process.env.EVEN_SHARDS_DATABASE_SECRET_ARN = 'arn:aws:secretsmanager:eu-west-1:111111111111:secret:relay';
    result = { SecretString: secret };
    const rejection = await credentials(SERVER, 5_000).catch((error) => error);
    expect(rejection.code).toBe('DATABASE_SECRET');
    expect(inspect(rejection, { showHidden: true })).not.toContain('hunter2');
  });

  test('from Secrets Manager are rejected with the reason if no response arrives before the timeout', async () => {
    process.env.EVEN_SHARDS_DATABASE_SECRET_ARN = 'arn:aws:secretsmanager:eu-west-1:111111111111:secret:relay';
    result = new Promise(() => {});
    await expect(credentials(SERVER, 200)).rejects.toMatchObject({
      message: '[DATABASE_SECRET] the secret of the database could not be read: no response within 200 ms',
      cause: { name: 'TimeoutError' },
    });
    secrets.closeAllConnections();
  });

  test('without a secret and a user are rejected with an error that names the missing variable', async () => {
    await expect(credentials(SERVER, 5_000)).rejects.toThrow(/EVEN_SHARDS_DATABASE_USER/);
  });
});
