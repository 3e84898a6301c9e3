import { UsageError } from '../../../../bin/flags';
import { cassandraOf } from '../../../../bin/local/local-flags';

test.each([
  ['127.0.0.1', { host: '127.0.0.1', port: 9_042 }],
  ['localhost:9043', { host: 'localhost', port: 9_043 }],
  ['[::1]:9042', { host: '::1', port: 9_042 }],
])('a Cassandra at %s is on this machine', (text, address) => {
  expect(cassandraOf(text)).toEqual(address);
});

test.each(['10.0.0.1:9042', 'cassandra.example', '128.0.0.1', 'localhost.example'])(
  'a local run does not write to a Cassandra at %s',
  (text) => {
    expect(() => cassandraOf(text)).toThrow(UsageError);
    expect(() => cassandraOf(text)).toThrow('--cassandra must be on the loopback interface');
  },
);
