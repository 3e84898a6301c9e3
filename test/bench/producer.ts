import { benchByChance } from '../support/tables/producer/by-chance';
import { benchFiveProducers } from '../support/tables/producer/five-producers';
import { benchHotKey } from '../support/tables/producer/hot-key';
import { benchManyKeys } from '../support/tables/producer/many-keys';
import { benchPacked } from '../support/tables/producer/packed';
import { APPROACH, benchOverHttp } from './producer/over-http';
import { serveApproach } from './producer/over-http-approaches';
import { benchProcessorTime } from './producer/processor-time';
import { benchPublishedFigure } from './producer/published-figure';

/**
 * Compares the ordered producer with other ways to write: the throughput in virtual time on a simulated stream, and the
 * processor time on a stream that responds immediately.
 *
 *     npm run bench producer [part...]
 */
const PARTS: Record<string, () => Promise<void>> = {
  'hot-key': benchHotKey,
  'many-keys': benchManyKeys,
  packed: benchPacked,
  'five-producers': benchFiveProducers,
  'by-chance': benchByChance,
  'over-http': () => benchOverHttp(__filename),
  'processor-time': benchProcessorTime,
  'published-figure': benchPublishedFigure,
};

async function main(names: readonly string[]): Promise<void> {
  for (const name of names.length > 0 ? names : Object.keys(PARTS)) await PARTS[name]!();
}

const [first, ...others] = process.argv.slice(2);
if (first === APPROACH) void serveApproach(...(others as Parameters<typeof serveApproach>));
else void main(process.argv.slice(2));
