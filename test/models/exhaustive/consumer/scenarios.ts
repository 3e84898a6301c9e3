import type { Scenario } from '../explore';
import { type ConsumerBounds, consumerScenario } from './consumer-scenario';

/** A key in the same part of the parking table as the key "a" (see `partOf`), so that both keys share a mark. */
const TWIN = 'ę1';

/** A consumer reads a shard, with faults. */
export function consumerScenarios(faults: number): Scenario[] {
  const base: ConsumerBounds = { records: ['a1', 'a2'], batch: 1, faults };
  const poisoned: ConsumerBounds = { ...base, poison: ['a1'], retries: 1 };
  const once: ConsumerBounds = { ...base, records: ['a1'], poison: ['a1'], faults: 1 };
  const all: Record<string, ConsumerBounds> = {
    'handlers fail': {
      ...base,
      records: ['a1', 'b1', 'a2'],
      batch: 3,
      kinds: ['a handler fails', 'a handler fails after its effect'],
    },
    'a handler does not end': { ...base, faults: 1, kinds: ['a handler does not end'] },
    'a key beside a poison key': {
      ...base,
      records: ['a1', 'b1', 'a2'],
      batch: 3,
      poison: ['a1'],
      retries: 1,
      faults: 0,
    },
    'the time of an invocation is over': {
      ...base,
      records: ['a1', 'a2', 'a3', 'a4', 'a5'],
      batch: 5,
      faults: 1,
      kinds: ['the time of an invocation is over'],
    },
    'duplicates follow': {
      ...base,
      records: ['a1', 'a2', 'a1', 'a2'],
      batch: 1,
      poison: ['a1'],
      kinds: ['a process ends'],
    },
    'a retry and a batch': { ...poisoned, heals: ['a1'], faults: 0 },
    'a retry and a batch, processes end': { ...poisoned, heals: ['a1'], faults: 1, kinds: ['a process ends'] },
    'a retry and a batch, responses are lost': { ...poisoned, faults: 1, kinds: ['a response is lost'] },
    'two retries': { ...poisoned, records: ['a1'], retries: 2, heals: ['a1'], leasesEnd: true, faults: 0 },
    'two retries and a batch': { ...poisoned, retries: 2, heals: ['a1'], leasesEnd: true, faults: 0 },
    'two keys of one part': {
      ...poisoned,
      before: ['a1'],
      records: [TWIN],
      poison: ['a1', TWIN],
      dueInTheEnd: true,
      faults: 0,
    },
    'processes end': { ...base, poison: ['a1'], kinds: ['a process ends'] },
    'requests fail': { ...base, poison: ['a1'], kinds: ['a request fails', 'a response is lost'] },
    'an invocation is given up': { ...once, kinds: ['an invocation is given up'] },
    'a shard is split': { ...base, records: ['a1'], behindSplit: ['a2'], poison: ['a1'], kinds: ['a process ends'] },
  };
  return Object.entries(all).map(([name, bounds]) => consumerScenario(`an ordered consumer, ${name}`, bounds));
}
