import { PassThrough, Readable } from 'node:stream';
import { bodyBytes } from '../../../../lib/core/aws-client/body-bytes';

test.each([
  ['a stream of Node.js', Readable.from([Buffer.from('Bo'), Buffer.from('dy')])],
  ['a web stream', new Blob(['Body']).stream()],
  ['a blob', new Blob(['Body'])],
])('the bytes of %s are its whole body', async (_, body) => {
  expect((await bodyBytes(body)).toString()).toBe('Body');
});

test('no body has no bytes', async () => {
  expect(await bodyBytes(undefined)).toHaveLength(0);
});

test('a body that is cut off is a lost connection, and one that fails has its own error', async () => {
  const [cut, failing] = [new PassThrough(), new PassThrough()];
  const bytes = [bodyBytes(cut), bodyBytes(failing)];
  cut.write('Bo');
  cut.destroy();
  failing.destroy(new Error('no such luck'));
  await expect(bytes[0]).rejects.toMatchObject({ code: 'ECONNRESET' });
  await expect(bytes[1]).rejects.toThrow('no such luck');
});
