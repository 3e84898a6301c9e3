import type { Scenario } from '../explore';
import { type LedgerBounds, ledgerScenario } from './ledger-scenario';

/** Ledgers on one table: so many things go wrong in a run. */
export function ledgerScenarios(faults: number): Scenario[] {
  const all: Record<string, LedgerBounds> = {
    'two allocate': { owners: [], work: [{ allocate: ['a'] }, { allocate: ['b'] }], faults },
    'two allocate for one owner': { owners: [], work: [{ allocate: ['a'] }, { allocate: ['a', 'b'] }], faults },
    'one allocates, one releases': { owners: ['a'], work: [{ allocate: ['a', 'b'] }, { release: ['a'] }], faults },
    'one allocates, one rebalances': {
      owners: ['a', 'b', 'c', 'd'],
      skewed: true,
      work: [{ allocate: ['e'] }, { rebalance: 1 }],
      faults,
    },
    'two allocate, an administrator moves': {
      owners: ['a'],
      work: [{ allocate: ['b'] }, { allocate: ['c'] }, { move: 'a' }],
      faults,
    },
  };
  return Object.entries(all).map(([name, bounds]) => ledgerScenario(`ledgers, ${name}`, bounds));
}
