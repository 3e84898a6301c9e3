import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { credentials } from '../../../lambda/outbox-relay/credentials';

/** Credentials of the environment: a token of IAM is signed here, without a request. */
const SERVER = { host: 'relay.proxy-abc.eu-west-1.rds.amazonaws.com', port: 5432 };

describe('whom the relay logs in as', () => {
  const before = { ...process.env };
  let secrets: Server;
  let asked: string[];
  let password: string;

  beforeEach(async () => {
    asked = [];
    password = 'first';
    secrets = createServer(async (request, response) => {
      let body = '';
      for await (const chunk of request) body += chunk;
      asked.push(JSON.parse(body).SecretId);
      response.setHeader('content-type', 'application/x-amz-json-1.1');
      response.end(JSON.stringify({ SecretString: JSON.stringify({ username: 'app', password }) }));
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

  test('with a secret: its user, and its password as it is when a connection is made, for secrets rotate', async () => {
    process.env.EVEN_SHARDS_DATABASE_SECRET_ARN = 'arn:aws:secretsmanager:eu-west-1:111111111111:secret:relay';
    const { user, password: ask } = await credentials(SERVER);
    expect([user, await ask()]).toEqual(['app', 'first']);
    password = 'second';
    expect(await ask()).toBe('second');
    expect(new Set(asked)).toEqual(new Set([process.env.EVEN_SHARDS_DATABASE_SECRET_ARN]));
  });

  test('by IAM: a token for this user and server, signed anew for each connection', async () => {
    process.env.EVEN_SHARDS_DATABASE_USER = 'relay';
    const { user, password: ask } = await credentials(SERVER);
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

  test('with neither, it names what is missing', async () => {
    await expect(credentials(SERVER)).rejects.toThrow(/EVEN_SHARDS_DATABASE_USER/);
  });
});
