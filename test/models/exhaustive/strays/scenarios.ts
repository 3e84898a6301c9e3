import type { Scenario } from '../explore';
import { type StraysBounds, straysScenario } from './strays-scenario';

/** The items of an index get their shards, with faults. */
export function straysScenarios(faults: number): Scenario[] {
  const base: StraysBounds = { items: ['k1', 'k2'], pageItems: 2, writers: [], faults };
  const all: Record<string, StraysBounds> = {
    'a writer puts': { ...base, writers: [[['puts', 'k1']]] },
    'a writer changes and deletes': {
      ...base,
      writers: [
        [
          ['changes', 'k1'],
          ['deletes', 'k2'],
        ],
      ],
    },
    'two writers, item by item': { ...base, pageItems: 1, writers: [[['puts', 'k1']], [['deletes', 'k1']]] },
    // The lower count gives both items another shard.
    'the count decreases': { ...base, items: ['k1', 'k3'], pageItems: 1, falls: true, writers: [[['puts', 'k1']]] },
    'three items': { ...base, items: ['k1', 'k2', 'k3'], faults: faults + 1 },
  };
  return Object.entries(all).map(([name, bounds]) => straysScenario(`strays, ${name}`, bounds));
}
