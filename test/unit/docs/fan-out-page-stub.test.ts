import { Readable } from 'node:stream';
import { DynamoDB } from '@aws-sdk/client-dynamodb';
import { HttpResponse } from '@smithy/core/protocols';
import { fanOutQuery, lightQueryClient } from '../../../lib/core';
import { answerTo } from '../../support/fakes/query-stub';
import { indexConfig } from '../../support/index-config';

test('the stub of `npm run bench fan-out-page` answers as DynamoDB does, for both clients', async () => {
  const config = indexConfig({ shardAttribute: 'byStatusShard', shards: { default: { write: 10, read: 10 } } });
  const handle = async ({ body }: { body: Uint8Array }) => {
    const [head, text] = answerTo(JSON.parse(new TextDecoder().decode(body)))
      .toString()
      .split('\r\n\r\n') as [string, string];
    const headers = Object.fromEntries(
      head
        .split('\r\n')
        .slice(1)
        .map((line) => line.toLowerCase().split(': ')),
    );
    return { response: new HttpResponse({ statusCode: 200, headers, body: Readable.from([Buffer.from(text)]) }) };
  };
  const client = new DynamoDB({
    region: 'us-east-1',
    credentials: { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'secret' },
    requestHandler: { handle } as never,
  });
  const request = { value: '10', limit: 50 };
  const { items } = await fanOutQuery(client, config, request);
  expect(items).toHaveLength(50);
  expect((await fanOutQuery(lightQueryClient(client), config, request)).items).toEqual(items);
});
