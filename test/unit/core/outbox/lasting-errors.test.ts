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
  ['a missing error', undefined, false],
])('isPermanent – %s, %j – returns %s', (_, error, lasts) => {
  expect([isPermanent(error), isReadOnly(error)]).toEqual([lasts, error?.code === '25006']);
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
  ['08P01', true],
  ['0A000', true],
  ['XX000', true],
  ['42501', true],
  ['08006', false],
  ['57014', false],
  ['25006', false],
  ['55P03', false],
  ['ECONNRESET', false],
])('isRejection – %s – returns %s', (code, rejects) => {
  expect(isRejection({ code })).toBe(rejects);
});
