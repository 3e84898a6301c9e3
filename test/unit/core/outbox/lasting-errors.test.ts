import { InvalidArgumentError } from '../../../../lib/core/kernel/errors';
import { failsEveryRun, isPermanent, isReadOnly, isRejection } from '../../../../lib/core/outbox/lasting-errors';
import { OutboxConnectionError, OutboxPoolerError } from '../../../../lib/core/outbox/outbox-errors';
import { ProducerAbortedError } from '../../../../lib/core/producer';

test.each([
  ['a missing table', { code: '42P01' }, true],
  ['a missing prepared statement', { code: '26000' }, true],
  ['a table without a replica identity', { code: '55000' }, true],
  ['a lock of another session', { code: '55P03' }, false],
  ['a program limit', { code: '54000' }, true],
  ['a database that was dropped', { code: '57P04' }, true],
  ['a server that shuts down', { code: '57P01' }, false],
  ['a server that starts', { code: '57P03' }, false],
  ['too many connections', { code: '53300' }, false],
  ['a lost connection', { code: '08006' }, false],
  ['a serialization failure', { code: '40001' }, false],
  ['a full disk', { code: '53100' }, false],
  ['corrupted data', { code: 'XX001' }, true],
  ['an internal error', { code: 'XX000' }, false],
  ['a timeout in a transaction', { code: '25P03' }, false],
  ['a read-only server', { code: '25006' }, false],
  ['another invalid transaction state', { code: '25001' }, true],
  ['a system error with a number', { code: '42' }, false],
  ['a system error with a code', { code: 'ECONNRESET' }, false],
  ['a certificate that expired', { code: 'CERT_HAS_EXPIRED' }, true],
  ['a certificate of another host', { code: 'ERR_TLS_CERT_ALTNAME_INVALID' }, true],
  ['an unknown issuer', { code: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE' }, true],
  ['a port that does not exist', { code: 'ERR_SOCKET_BAD_PORT' }, true],
  ['a host name that does not resolve', { code: 'ENOTFOUND' }, false],
  ['a setting that PgBouncer rejects', { code: '08P01', message: 'unsupported startup parameter: options' }, true],
  ['a database that PgBouncer does not have', { code: '08P01', message: 'no such database: app' }, true],
  ['a login that PgBouncer rejects', { code: '08P01', message: 'SASL authentication failed' }, true],
  [
    'a server that is down behind PgBouncer',
    {
      code: '08P01',
      message: 'server login has been failing, cached error: password authentication failed (server_login_retry)',
    },
    false,
  ],
  ['a pooler without a message', { code: '08P01' }, false],
  ['a server without TLS', { message: 'The server does not support SSL connections' }, true],
  ['an unknown error of the driver', { message: 'Connection terminated unexpectedly' }, false],
  ['a missing error', undefined, false],
])('isPermanent – %s, %j – returns %s', (_, error, lasts) => {
  const { code } = Object(error) as { code?: string };
  const wrapped = new OutboxConnectionError({ cause: error });
  expect([isPermanent(error), isPermanent(wrapped), isReadOnly(error)]).toEqual([lasts, lasts, code === '25006']);
});

test.each([
  ['a lasting error of Postgres', { code: '28P01' }, true],
  ['a pooler', new OutboxPoolerError('no'), true],
  ['a wrong argument', new InvalidArgumentError('postgres', 1, '2'), true],
  ['a lost connection', new OutboxConnectionError(), false],
  ['an aborted producer', new ProducerAbortedError(), false],
  ['a system error', { code: 'ECONNREFUSED' }, false],
])('failsEveryRun – %s – returns whether every later run of the relay would fail too', (_, error, expected) => {
  expect(failsEveryRun(error)).toBe(expected);
});

test.each([
  ['08P01', true, false],
  ['0A000', true, true],
  ['XX000', true, false],
  ['42501', true, true],
  ['08006', false, false],
  ['57014', false, false],
  ['57P04', false, false],
  ['25006', false, false],
  ['55P03', false, false],
  ['ECONNRESET', false, false],
  [undefined, false, false],
])('isRejection – %s – returns %s, and %s if the error has ended the session', (code, rejects, rejectsFatally) => {
  expect([isRejection({ code }), isRejection({ code, severity: 'FATAL' })]).toEqual([rejects, rejectsFatally]);
});
