import { writeGuideTable } from '../support/guide-table';
import { consumerDayRow, HEADER, WAYS } from '../support/tables/consumer-day';

/**
 * What a poison record and an outage of a minute do to a day of a shard, with what people use now and with an ordered consumer.
 * It writes the table of the guide.
 *
 *   npm run bench consumer-day
 */
// Metrics of an ordered consumer are lines of its log.
const { log } = console;
console.log = (line: string) => line.startsWith('{') || log(line);

async function main(): Promise<void> {
  const rows: string[][] = [];
  for (const way of WAYS) rows.push(await consumerDayRow(way));
  writeGuideTable('docs/guides/consuming.md', 'npm run bench consumer-day', HEADER, rows);
}

void main();
