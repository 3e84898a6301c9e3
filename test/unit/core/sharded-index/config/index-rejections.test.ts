import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { DynamoDB } from '@aws-sdk/client-dynamodb';
import { LOCAL_REGION } from '../../../../../bin/local/assembly/emulated-types';
import { servedDynalite } from '../../../../../bin/local/emulators/dynalite-gate';
import { LOCAL_CREDENTIALS } from '../../../../../bin/local/functions/lambda-environment';
import { type IndexKeyAttribute, indexRejections } from '../../../../../lib/core/sharded-index/config/index-rejections';
import { playRejectedPuts } from '../../../../support/plays/rejected-puts';

const dynalite: (options: object) => Server = require('dynalite');

const BY_STATUS: readonly IndexKeyAttribute[] = [
  { name: 'status', type: 'S', role: 'partition' },
  { name: 'shard', type: 'N', role: 'partition' },
  { name: 'createdAt', type: 'S', role: 'sort' },
];

test('an index of a local run rejects exactly the writes that indexRejections names, for each kind of write, and each type and size of a key attribute', async () => {
  const server = createServer(servedDynalite(dynalite({ createTableMs: 0, deleteTableMs: 0, updateTableMs: 0 })));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const dynamodb = new DynamoDB({ region: LOCAL_REGION, credentials: LOCAL_CREDENTIALS, endpoint });
  try {
    const { differences, accepted, rejected } = await playRejectedPuts(dynamodb, { isLocalRun: true });
    expect(differences).toEqual([]);
    expect(Math.min(accepted, rejected)).toBeGreaterThan(50);
  } finally {
    dynamodb.destroy();
    server.close();
  }
}, 60_000);

test('indexRejections counts an item once, and gives the share and the reasons of each key attribute', () => {
  const report = indexRejections(BY_STATUS, [
    { status: { NULL: true }, createdAt: { S: '' } },
    { status: { N: '1' }, createdAt: { S: '2026' } },
    { status: { S: 'open' }, createdAt: { S: 'x'.repeat(1_025) } },
    { status: { S: 'open' } },
  ]);
  expect(report).toMatchObject({
    items: 4,
    rejected: 3,
    byAttribute: [
      { rejected: 2, share: 0.5, byReason: { null: 1, otherType: 1 }, absent: 0 },
      { rejected: 0, share: 0, byReason: {}, absent: 4 },
      { rejected: 2, share: 0.5, byReason: { empty: 1, tooLong: 1 }, absent: 1 },
    ],
  });
  expect(indexRejections(BY_STATUS, []).byAttribute[0]).toMatchObject({ rejected: 0, share: 0 });
});
