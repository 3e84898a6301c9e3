import type { Scenario } from '../explore';
import { type GrowthBounds, growthScenario } from './growth-scenario';
import { type MoveBounds, moveScenario } from './move-scenario';

/** Writes of one item while the shard count of its table changes. */
export function growthScenarios(): Scenario[] {
  const all: Record<string, GrowthBounds> = {
    'conditional puts': {
      from: 5,
      to: 6,
      isThere: true,
      writers: [['put if absent', 'put if absent'], ['delete']],
      looks: 1,
    },
    'puts and deletes': { from: 5, to: 6, isThere: false, writers: [['put', 'delete'], ['put if absent']], looks: 1 },
    'two writers put': {
      from: 1,
      to: 2,
      isThere: false,
      writers: [['put if absent'], ['put if absent', 'put']],
      looks: 1,
    },
    'the count decreases': { from: 6, to: 5, isThere: true, writers: [['put', 'put if absent'], ['delete']], looks: 1 },
  };
  return Object.entries(all).map(([name, bounds]) => growthScenario(`a table grows, ${name}`, bounds));
}

/** The items of a table move to their places while writers write, with faults. */
export function moveScenarios(faults: number): Scenario[] {
  const base: MoveBounds = { from: 5, to: 6, items: 1, pageItems: 2, writers: [], faults };
  const all: Record<string, MoveBounds> = {
    'conditional puts and a delete': { ...base, writers: [[['puts if absent', 1]], [['deletes', 1]]] },
    'a writer updates': { ...base, writers: [[['updates', 1]]] },
    'a writer puts, and updates': {
      ...base,
      writers: [
        [
          ['puts', 1],
          ['updates', 1],
        ],
      ],
    },
    'two items, back to fewer shards': { ...base, from: 6, to: 5, items: 2, pageItems: 1, writers: [[['puts', 1]]] },
  };
  return Object.entries(all).map(([name, bounds]) => moveScenario(`a table moves, ${name}`, bounds));
}
