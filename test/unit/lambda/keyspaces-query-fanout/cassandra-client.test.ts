import { cassandraClient, checkLocal } from '../../../../lambda/keyspaces-query-fanout/cassandra-client';

test.each(['127.0.0.1:9042', '127.1.2.3:1', 'localhost:9042', '[::1]:9042'])('checkLocal accepts %s', (address) => {
  expect(checkLocal(address)).toBe(address);
});

test.each(['10.0.0.1:9042', 'cassandra.example:9042', '127.0.0.1', 'localhost.example:9042', '0.0.0.0:9042', ''])(
  'checkLocal rejects %j, because a connection without TLS must stay on this machine',
  (address) => {
    expect(() => checkLocal(address)).toThrow('must be on the loopback interface, as in a local run');
  },
);

test('cassandraClient has options that the driver accepts', async () => {
  await cassandraClient('127.0.0.1:9042').shutdown();
});
