import { readReportedWrites } from '../../../../lambda/adaptive-shard-count-controller/reported-writes';
import { adaptiveConfig } from '../../../support/fakes/adaptive-config';

const NOW = Date.UTC(2026, 10, 21, 12, 10);

const report = (minute: string, value: string, admitted: unknown, throttled: unknown = '1') => ({
  index: { S: 'orders/byStatus/reports' },
  value: { S: `2026-11-21T12:${minute}=${value}` },
  admitted: { N: admitted },
  throttled: { N: throttled },
});

const known = (...answers: object[]) =>
  readReportedWrites({ query: async () => answers.shift() as never }, adaptiveConfig, NOW);

test('readReportedWrites reads the reports of completed minutes from all pages', async () => {
  const pages = [
    { Items: [report('05', 'open', '10'), report('10', 'open', '99')], LastEvaluatedKey: { value: { S: 'a' } } },
    { Items: [report('06', 'open', '20')] },
  ];
  expect(await known(...pages)).toMatchObject([{ value: 'open', minutes: [{ admitted: 10 }, { admitted: 20 }] }]);
});

test.each([['-1'], ['1e400'], [null]])(
  'readReportedWrites ignores a malformed report of %j write units',
  async (amount) => {
    const Items = [report('05', 'open', amount), report('05', 'open', '1', amount), report('06', 'paid', '2')];
    expect(await known({ Items })).toMatchObject([{ value: 'paid' }]);
  },
);

// Earlier versions of the controller stored the state of an alarm beside the reports.
test.each([[null], [{}], [{ value: { S: 5 } }], [{ value: { S: 'alarm' }, state: { S: 'ALARM' } }]])(
  'readReportedWrites ignores an item that is not a report: %j',
  async (item) => {
    expect(await known({ Items: [item] })).toEqual([]);
  },
);

test('readReportedWrites rejects a page whose last key is its start key', async () => {
  const page = { Items: [], LastEvaluatedKey: { value: { S: 'a' } } };
  await expect(known(page, page)).rejects.toMatchObject({ code: 'INCOMPLETE_ANSWER' });
});

test.each([[{}], [undefined]])('readReportedWrites rejects a response without items: %j', async (response) => {
  await expect(known(response as object)).rejects.toMatchObject({ code: 'INCOMPLETE_ANSWER' });
});
