import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { inspect } from 'node:util';
import { credentials } from '../../../../lambda/outbox-relay/credentials';

/** Credentials of the environment: a token of IAM is signed here, without a request. */
const SERVER = { host: 'relay.proxy-abc.eu-west-1.rds.amazonaws.com', port: 5432 };

describe('whom the relay logs in as', () => {
  const before = { ...process.env };
  let secrets: Server;
  let asked: string[];
  let password: string;
  let answer: object | Promise<object> | undefined;

  beforeEach(async () => {
    asked = [];
    password = 'first';
    answer = undefined;
    secrets = createServer(async (request, response) => {
      let body = '';
      for await (const chunk of request) body += chunk;
      asked.push(JSON.parse(body).SecretId);
      response.setHeader('content-type', 'application/x-amz-json-1.1');
      const login = { SecretString: JSON.stringify({ username: 'app', password }) };
      response.end(JSON.stringify((await answer) ?? login));
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

  test('with a secret: its user, and its password as it is when a further connection is made, for secrets rotate', async () => {
    process.env.EVEN_SHARDS_DATABASE_SECRET_ARN = 'arn:aws:secretsmanager:eu-west-1:111111111111:secret:relay';
    const { user, password: ask } = await credentials(SERVER, 5_000);
    expect([user, await ask()]).toEqual(['app', 'first']);
    expect(asked).toEqual([process.env.EVEN_SHARDS_DATABASE_SECRET_ARN]);
    password = 'second';
    expect(await ask()).toBe('second');
    password = 'third';
    expect(await ask()).toBe('third');
    expect(new Set(asked)).toEqual(new Set([process.env.EVEN_SHARDS_DATABASE_SECRET_ARN]));
  });

  test('by IAM: a token for this user and server, signed anew for each connection', async () => {
    process.env.EVEN_SHARDS_DATABASE_USER = 'relay';
    const { user, password: ask } = await credentials(SERVER, 5_000);
    expect(user).toBe('relay');
    const token = new URL(`https://${await ask()}`);
    expect(token.host).toBe(`${SERVER.host}:${SERVER.port}`);
    expect(Object.fromEntries(token.searchParams)).toMatchObject({
      Action: 'connect',
      DBUser: 'relay',
      'X-Amz-Credential': expect.stringMatching(/^AKIDEXAMPLE\/\d{8}\/eu-west-1\/rds-db\/aws4_request$/),
      'X-Amz-Expires': '900',
    });
    expect(asked).toEqual([]);
  });

  test.each([
    ['no text', undefined],
    ['no JSON', 'hunter2'],
    ['no user', '{"password":"hunter2"}'],
    ['a password that is no text', '{"username":"app","password":["hunter2"]}'],
  ])('a secret with %s is refused, and nothing of it is named', async (_, secret) => {
    process.env.EVEN_SHARDS_DATABASE_SECRET_ARN = 'arn:aws:secretsmanager:eu-west-1:111111111111:secret:relay';
    answer = { SecretString: secret };
    const refusal = await credentials(SERVER, 5_000).catch((error) => error);
    expect(refusal.code).toBe('DATABASE_SECRET');
    expect(inspect(refusal, { showHidden: true })).not.toContain('hunter2');
  });

  test('a service that does not answer is given up in time, and the error says what was asked of it', async () => {
    process.env.EVEN_SHARDS_DATABASE_SECRET_ARN = 'arn:aws:secretsmanager:eu-west-1:111111111111:secret:relay';
    answer = new Promise(() => {});
    await expect(credentials(SERVER, 200)).rejects.toMatchObject({
      message: '[DATABASE_SECRET] the secret of the database could not be read: no response within 200 ms',
      cause: { name: 'TimeoutError' },
    });
    secrets.closeAllConnections();
  });

  test('with neither, it names what is missing', async () => {
    await expect(credentials(SERVER, 5_000)).rejects.toThrow(/EVEN_SHARDS_DATABASE_USER/);
  });
});
