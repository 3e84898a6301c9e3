import { advisedShards } from './advised-shards';
import { type Diagnosis, notMeasured, throttled } from './diagnosis';
import { hotLoadOf } from './hot-load';
import type { UnshardedKey } from './observations';
import { isMissing, NO_METRICS } from './observations';
import { rejectedItems } from './rejected-items';
import { ADVICE } from './shards-help';
import type { AdviceOptions } from './shown-keys';
import { keyLines } from './shown-keys';
import { type Throttling, throttlingsOf } from './throttling';

/** The problems of a table or an index without shards, with advice for a user who has not used this library yet. */
export function ofUnshardedKey(unsharded: UnshardedKey, options: AdviceOptions): Diagnosis[] {
  const { path, indexName, throughput, mustBeMeasured, report } = unsharded;
  const kind = indexName === undefined ? 'table' : 'index';
  const found = throttlingsOf({ kind }, throughput).map((throttling) =>
    throttling.cause === 'keyRange' && throttling.operation === 'write'
      ? hotWrites(unsharded, throttling, options)
      : throttled(path, throttling),
  );
  const { missing } = throughput;
  if (missing !== undefined && (mustBeMeasured || missing !== NO_METRICS)) {
    found.push(notMeasured(path, `the traffic of the ${kind}`, missing));
  }
  if (report !== undefined && isMissing(report)) found.push(notMeasured(path, 'the busiest keys', report));
  return [...found, ...rejectedItems(unsharded)];
}

function hotWrites(unsharded: UnshardedKey, throttling: Throttling, options: AdviceOptions): Diagnosis {
  const { indexName, path, throughput } = unsharded;
  const { what, operation, cause, events } = throttling;
  const { peakUnits = 0, peakThrottled = 0 } = throughput.writes;
  const demand = peakUnits + peakThrottled;
  const load = hotLoadOf(unsharded, demand);
  const { id, helps, change } = ADVICE[load.kind](unsharded);
  const isHelped = load.kind === 'hotKey' || load.kind === 'unknown';
  const { lines, ...code } = isHelped ? advisedShards(unsharded, demand, load, options) : { lines: [] };
  return {
    id,
    weight: 'refused',
    path,
    what: indexName === undefined ? what : `${what}, and the table throttles these writes with the index`,
    change,
    throttling: { operation, cause, events },
    measured: [
      `load: ${units(peakUnits)} write units a second in the busiest minute, and ${units(peakThrottled)} throttled writes a second. Callers ` +
        `retry throttled writes, so the demand is ${units(peakUnits)} to ${units(demand)} units a second`,
      ...keyLines(unsharded, options),
      ...lines,
      `do shards help: ${helps}`,
    ],
    ...code,
  };
}

function units(number: number): string {
  return Math.round(number).toLocaleString('en');
}
