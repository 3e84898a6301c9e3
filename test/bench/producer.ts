import { APPROACH, benchOverHttp } from './producer/over-http';
import { serveApproach } from './producer/over-http-approaches';

/**
 * Compares the processor time of the ordered producer with other ways to write over HTTP.
 *
 *     npm run bench producer
 */
const [first, ...others] = process.argv.slice(2);
if (first === APPROACH) void serveApproach(...(others as Parameters<typeof serveApproach>));
else void benchOverHttp(__filename);
