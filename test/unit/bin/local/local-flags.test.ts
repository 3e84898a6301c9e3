import { UsageError } from '../../../../bin/flags';
import { cassandraOf } from '../../../../bin/local/local-flags';

test.each([
  ['127.0.0.1', { host: '127.0.0.1', port: 9_042 }],
  ['localhost:9043', { host: 'localhost', port: 9_043 }],
  ['[::1]:9042', { host: '::1', port: 9_042 }],
])('--cassandra accepts %s', (text, address) => {
  expect(cassandraOf(text)).toEqual(address);
});

test.each(['10.0.0.1:9042', 'cassandra.example', '128.0.0.1', 'localhost.example'])(
  '--cassandra rejects %s, because a local run writes only to this machine',
  (text) => {
    expect(() => cassandraOf(text)).toThrow(UsageError);
    expect(() => cassandraOf(text)).toThrow('--cassandra must be on the loopback interface');
  },
);
