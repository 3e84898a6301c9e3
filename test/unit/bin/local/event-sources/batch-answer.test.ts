import { deliveryOf } from '../../../../../bin/local/event-sources/batch-answer';

const NUMBERS = ['10', '20', '30'];
const failures = (...itemIdentifiers: unknown[]) => ({
  batchItemFailures: itemIdentifiers.map((itemIdentifier) => ({ itemIdentifier })),
});

function doneOf(response: unknown, reportsFailures = true): number {
  return deliveryOf({ payload: JSON.stringify(response) }, NUMBERS, reportsFailures).done;
}

// Source: the tests of LocalStack, whose snapshots are responses of AWS: test_kinesis_report_batch_item_*_scenarios.
test.each([
  ['nothing', null],
  ['an empty text', ''],
  ['a list', []],
  ['an empty object', {}],
  ['an empty list', failures()],
  ['null in place of a list', { batchItemFailures: null }],
])('a response with %s means that all records are done', (_, answer) => {
  expect(doneOf(answer)).toBe(3);
});

test('the next batch begins at the lowest sequence number that the response reports', () => {
  expect(doneOf(failures('20'))).toBe(1);
  expect(doneOf(failures('30', '20'))).toBe(1);
});

test.each([
  ['an empty text', failures('')],
  ['nothing', failures(null)],
  ['a number', failures(20)],
  ['a number of another batch', failures('20', '40')],
  ['a text in place of a list', { batchItemFailures: 'all' }],
  ['another name', { batchItemFailures: [{ id: '20' }] }],
  ['another name without a value', { batchItemFailures: [{ foo: null }] }],
])('a report of %s fails the whole batch', (_, answer) => {
  expect(doneOf(answer)).toBe(0);
});

test('a mapping without ReportBatchItemFailures treats any response as success', () => {
  expect(doneOf(failures('10'), false)).toBe(3);
});

test('an error fails the whole batch, and is printed in one line', () => {
  const payload = JSON.stringify({ errorType: 'Error', errorMessage: 'broken\nat line 1' });
  expect(deliveryOf({ payload, functionError: 'Unhandled' }, NUMBERS, true)).toEqual({
    done: 0,
    problem: 'Error: broken',
  });
});
