import type { Scenario } from '../explore';
import { type PagesBounds, pagesScenario } from './pages-scenario';

/** Three items with equal sort keys, two in the first shard and one in the second, and an item after them. */
const TIES: PagesBounds['items'] = [
  [0, 'd1'],
  [0, 'd1'],
  [1, 'd1'],
  [1, 'd2'],
];

/** The second page starts at an item whose day also has items in the other shard. The page reads these items again. */
const BEHIND_TIES: PagesBounds['items'] = [
  [0, 'd1', '1'],
  [0, 'd1', '2'],
  [1, 'd1', '3'],
  [0, 'd2', '1'],
];

/** The pages of a fan-out query, with faults and changed items. */
export function pagesScenarios(faults: number, changes: number): Scenario[] {
  const base: PagesBounds = { items: TIES, answerItems: 1, request: { limit: 2 }, faults, changes };
  const all: Record<string, PagesBounds> = {
    'in order': base,
    'in descending order': { ...base, request: { limit: 2, order: 'descending' } },
    unordered: { ...base, request: { limit: 2, order: 'unordered' } },
    'of a range': { ...base, request: { limit: 2, sortKey: { lte: 'd1' } } },
    'after a few ties': { ...base, items: BEHIND_TIES, request: { limit: 3 } },
    'without shards that fail': { ...base, onShardFailure: 'partial' },
    hedged: { ...base, hedged: true },
    'the shard count increases': { ...base, counts: [2, 3] },
    'the shard count decreases': { ...base, counts: [3, 2] },
    'hedged, the shard count increases': {
      ...base,
      items: TIES.slice(1),
      hedged: true,
      counts: [2, 3],
    },
    'hedged, without shards that fail': { ...base, items: TIES.slice(1), hedged: true, onShardFailure: 'partial' },
    'one item each': { ...base, answerItems: 2, request: { limit: 1 } },
  };
  return Object.entries(all).map(([name, bounds]) => pagesScenario(`pages, ${name}`, bounds));
}
