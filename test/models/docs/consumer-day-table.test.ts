import { readFileSync } from 'node:fs';
import { consumerDayRow, WAYS } from '../../support/tables/consumer-day';

const text = readFileSync('docs/guides/consuming.md', 'utf8');

beforeAll(() => void jest.spyOn(console, 'log').mockImplementation(() => {}));
afterAll(() => void jest.restoreAllMocks());

describe('the table of a day with a poison record and an outage', () => {
  test.each(WAYS)(
    'is what `npm run bench consumer-day` computes: $name',
    async (way) => {
      expect(text).toContain(`\n| ${(await consumerDayRow(way)).join(' | ')} |\n`);
    },
    120_000,
  );
});
