import type { Scenario } from '../explore';
import { type ProducerBounds, producerScenario } from './producer-scenario';

/** The keys a and c are in the same hash bucket, the first of two. */
const THREE = ['a1', 'a2', 'c1'];
const TWO = ['a1', 'a2'];

/** The scenarios of the producer by size. `npm run test:models` runs only some of these scenarios. */
function all(records: readonly string[], faults: number): Record<string, ProducerBounds> {
  const base = { records, faults, feed: 'at once' } as const;
  return {
    plain: base,
    'plain, put in steps': { ...base, feed: 'in steps' },
    aggregated: { ...base, options: { aggregation: true } },
    sequenced: { ...base, options: { aggregation: true, sequence: true } },
    packed: { ...base, options: { aggregation: 'packed', hashBuckets: 2 } },
    'packed, sequenced': { ...base, options: { aggregation: 'packed', hashBuckets: 2, sequence: true } },
    'rejected records left out': { ...base, options: { skipRejected: true, sequence: true } },
    aborted: { ...base, meanwhile: ['abort'] },
    'packed, aborted': { ...base, meanwhile: ['abort'], options: { aggregation: 'packed', hashBuckets: 2 } },
    flushed: { ...base, meanwhile: ['flush'] },
    'closed, put in steps': { ...base, feed: 'in steps', meanwhile: ['close'] },
    sequential: { ...base, options: { sequentialPuts: true } },
    'malformed responses': { ...base, requests: 'have malformed responses' },
    'sequential, malformed responses': {
      ...base,
      requests: 'have malformed responses',
      options: { sequentialPuts: true },
    },
    'timing out': { ...base, requests: 'time out' },
    'packed, sequenced, timing out': {
      ...base,
      requests: 'time out',
      options: { aggregation: 'packed', hashBuckets: 2, sequence: true },
    },
    expiring: { ...base, options: { maxRecordAgeMs: 20 } },
    'expiring, rejected records left out': { ...base, options: { maxRecordAgeMs: 20, skipRejected: true } },
    split: { ...base, meanwhile: ['split'] },
    merged: { ...base, meanwhile: ['merge'], options: { aggregation: true } },
    'packed, split': {
      ...base,
      meanwhile: ['split'],
      options: { aggregation: 'packed', hashBuckets: 2, sequence: true },
    },
    'split, expiring': { ...base, records: TWO, meanwhile: ['split'], options: { maxRecordAgeMs: 20 } },
    'merged, expiring, timing out': {
      ...base,
      records: TWO,
      meanwhile: ['merge'],
      requests: 'time out',
      options: { maxRecordAgeMs: 20, sequence: true },
    },
    'split, flushed': { ...base, records: TWO, meanwhile: ['split', 'flush'] },
    'merged, closed, put in steps': { ...base, records: TWO, feed: 'in steps', meanwhile: ['merge', 'close'] },
    'packed, split, aborted': {
      ...base,
      records: ['a1', 'c1'],
      meanwhile: ['split', 'abort'],
      options: { aggregation: 'packed', hashBuckets: 2 },
    },
    'flushed, aborted': { ...base, records: TWO, meanwhile: ['flush', 'abort'] },
  };
}

/** The scenarios of the producer, with faults. */
export function producerScenarios(faults: number): Scenario[] {
  return Object.entries(all(THREE, faults)).map(([name, bounds]) => producerScenario(`the producer, ${name}`, bounds));
}
