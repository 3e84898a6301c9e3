import type { Scenario } from '../explore';
import { type PagesBounds, pagesScenario } from './pages-scenario';

/** Three ties over both shards, and an item behind them. */
const TIES: PagesBounds['items'] = [
  [0, 'd1'],
  [0, 'd1'],
  [1, 'd1'],
  [1, 'd2'],
];

/** The second page begins behind items of the same day in another shard, which it reads again: they are few. */
const BEHIND_TIES: PagesBounds['items'] = [
  [0, 'd1', '1'],
  [0, 'd1', '2'],
  [1, 'd1', '3'],
  [0, 'd2', '1'],
];

/** The pages of a fan-out query: so many things go wrong in a run, and so many items change. */
export function pagesScenarios(faults: number, changes: number): Scenario[] {
  const base: PagesBounds = { items: TIES, answerItems: 1, request: { limit: 2 }, faults, changes };
  const all: Record<string, PagesBounds> = {
    'in order': base,
    'in descending order': { ...base, request: { limit: 2, order: 'descending' } },
    unordered: { ...base, request: { limit: 2, order: 'unordered' } },
    'of a range': { ...base, request: { limit: 2, sortKey: { lte: 'd1' } } },
    'behind few ties': { ...base, items: BEHIND_TIES, request: { limit: 3 } },
    'without shards that fail': { ...base, onShardFailure: 'partial' },
    hedged: { ...base, hedged: true },
    'of more shards, from some page on': { ...base, counts: [2, 3] },
    'of fewer shards, from some page on': { ...base, counts: [3, 2] },
    'hedged, of more shards, from some page on': {
      ...base,
      items: TIES.slice(1),
      hedged: true,
      counts: [2, 3],
    },
    'hedged, without shards that fail': { ...base, items: TIES.slice(1), hedged: true, onShardFailure: 'partial' },
    'one by one': { ...base, answerItems: 2, request: { limit: 1 } },
  };
  return Object.entries(all).map(([name, bounds]) => pagesScenario(`pages, ${name}`, bounds));
}
