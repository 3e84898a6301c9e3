import { SigV4AuthProvider } from '../../../../lambda/keyspaces-query-fanout/sigv4-authenticator';

const NOW = new Date('2020-06-09T22:41:51.000Z');
const NONCE = '91703fdc2ef562e19fbdab0f58e42fe5';
const credentials = { accessKeyId: 'UserID-1', secretAccessKey: 'UserSecretKey-1' };

const responseTo = (challenge: string, provided: () => Promise<typeof credentials & { sessionToken?: string }>) =>
  new Promise<string>((resolve, reject) => {
    const authenticator = new SigV4AuthProvider('us-west-2', provided, () => NOW).newAuthenticator();
    authenticator.evaluateChallenge(Buffer.from(challenge), (error, response) =>
      error === null ? resolve(response!.toString()) : reject(error),
    );
  });

describe('SigV4AuthProvider', () => {
  // Source of the expected values: the tests of Amazon's own plug-ins (aws-sigv4-auth-cassandra-*-driver-plugin).
  const signed =
    'signature=7f3691c18a81b8ce7457699effbfae5b09b4e0714ab38c1292dbdf082c9ddd87,' +
    'access_key=UserID-1,amzdate=2020-06-09T22:41:51.000Z';

  test('signs the nonce in the same way as the published plug-ins', async () => {
    expect(await responseTo(`nonce=${NONCE}`, async () => credentials)).toBe(signed);
    expect(await responseTo(`realm=x,nonce=${NONCE},more=y`, async () => credentials)).toBe(signed);
  });

  test('adds the token of temporary credentials', async () => {
    const temporary = { ...credentials, sessionToken: 'sess-token-1' };
    expect(await responseTo(`nonce=${NONCE}`, async () => temporary)).toBe(`${signed},session_token=sess-token-1`);
  });

  test('reads the current credentials for each connection', async () => {
    let number = 0;
    const rotating = async () => ({ ...credentials, accessKeyId: `key-${++number}` });
    expect(await responseTo(`nonce=${NONCE}`, rotating)).toContain('access_key=key-1');
    expect(await responseTo(`nonce=${NONCE}`, rotating)).toContain('access_key=key-2');
  });

  test('ends the connection with an error if the nonce or the credentials are missing', async () => {
    await expect(responseTo('hello', async () => credentials)).rejects.toThrow('has no nonce');
    const none = () => Promise.reject(new Error('no credentials'));
    await expect(responseTo(`nonce=${NONCE}`, none)).rejects.toThrow('no credentials');
  });
});
