import type { Scenario } from '../explore';
import { type GrowthBounds, growthScenario } from './growth-scenario';

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
    'two who put': { from: 1, to: 2, isThere: false, writers: [['put if absent'], ['put if absent', 'put']], looks: 1 },
    'and shrinks': { from: 6, to: 5, isThere: true, writers: [['put', 'put if absent'], ['delete']], looks: 1 },
  };
  return Object.entries(all).map(([name, bounds]) => growthScenario(`a table grows, ${name}`, bounds));
}
