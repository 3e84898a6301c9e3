import { isLasting, isReadOnly } from '../../../../lib/core/outbox/lasting-errors';

test.each([
  ['a missing table', { code: '42P01' }, true],
  ['a class that passes', { code: '53100' }, false],
  ['a server that takes no writes', { code: '25006' }, false],
  ['another wrong transaction', { code: '25001' }, true],
  ['the system', { code: '42' }, false],
  ['the system, in letters', { code: 'ECONNRESET' }, false],
  ['nobody', undefined, false],
])('what %s says comes again: %j, %s', (_, error, lasts) => {
  expect([isLasting(error), isReadOnly(error)]).toEqual([lasts, error?.code === '25006']);
});
