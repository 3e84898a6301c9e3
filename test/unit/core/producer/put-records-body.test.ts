import { putRecordsBody } from '../../../../lib/core/producer/put-records-body';

test.each([1, 500])('%d keys of the characters that take the most bytes stand in a body whole', (entries) => {
  const PartitionKey = '\u0001'.repeat(256);
  const Records = Array.from({ length: entries }, () => ({ Data: Buffer.alloc(0), PartitionKey }));
  const body = putRecordsBody({ StreamName: 'orders', Records });
  expect(JSON.parse(Buffer.from(body).toString())).toEqual({
    StreamName: 'orders',
    Records: Records.map(() => ({ Data: '', PartitionKey })),
  });
});

test.each([0, 1, 2, 3, 100_000])('%d bytes of data stand in a body whole', (bytes) => {
  const Data = Buffer.alloc(bytes, 'data');
  const body = putRecordsBody({ StreamName: 'orders', Records: [{ Data, PartitionKey: 'a' }] });
  expect(JSON.parse(Buffer.from(body).toString()).Records).toEqual([
    { Data: Data.toString('base64'), PartitionKey: 'a' },
  ]);
});
