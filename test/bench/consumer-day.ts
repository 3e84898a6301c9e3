import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { InvokedFunction } from '../support/fakes/event-source';
import { kinesisEvent } from '../support/fakes/stream-events';
import { fetchedFolder, succeeds } from '../support/fetched';
import { writeGuideTable } from '../support/guide-table';
import { consumerDayRow, type Handle, HEADER, waysToConsume } from './consumer-day/day';

/**
 * Simulates a day of a shard with a poison record and an outage of a minute. Compares usual consumers with an ordered consumer.
 * The first run fetches the batch processor of Powertools into a cache. Writes the table of decision 0054.
 *
 *   npm run bench consumer-day
 */
// An ordered consumer writes its metrics to the log. This bench does not print these lines.
const { log } = console;
console.log = (line: string) => line.startsWith('{') || log(line);

const POWERTOOLS = '@aws-lambda-powertools/batch';
const VERSION = '2.35.0';

/** The exports of Powertools that this bench uses. */
interface Powertools {
  BatchProcessor: new (eventType: string) => object;
  EventType: { KinesisDataStreams: string };
  processPartialResponse(
    event: object,
    handle: (record: { kinesis: { data: string } }) => Promise<void>,
    processor: object,
  ): Promise<object>;
}

/** Uses one processor for all invocations, as the documentation of Powertools does. */
function powertoolsOf({ BatchProcessor, EventType, processPartialResponse }: Powertools) {
  return (handle: Handle): InvokedFunction => {
    const processor = new BatchProcessor(EventType.KinesisDataStreams);
    return (batch) =>
      processPartialResponse(
        kinesisEvent(batch),
        ({ kinesis }) => handle(Buffer.from(kinesis.data, 'base64').toString()),
        processor,
      );
  };
}

function fetchPowertools(): Powertools {
  const options = ['--no-save', '--no-package-lock', '--ignore-scripts', '--no-audit', '--no-fund'];
  const folder = fetchedFolder(`powertools-batch-${VERSION}`, (into) =>
    succeeds('npm', 'install', '--prefix', into, ...options, `${POWERTOOLS}@${VERSION}`),
  );
  if (folder === undefined) throw new Error(`${POWERTOOLS} ${VERSION} could not be fetched from the registry of npm`);
  return createRequire(join(folder, 'package.json'))(POWERTOOLS);
}

async function main(): Promise<void> {
  const powertools = powertoolsOf(fetchPowertools());
  const rows: string[][] = [];
  for (const way of waysToConsume(powertools)) rows.push(await consumerDayRow(way));
  writeGuideTable(
    'docs/decisions/0054-a-consumer-parks-only-the-failing-key.md',
    'npm run bench consumer-day',
    HEADER,
    rows,
  );
}

void main();
