import type { Scenario } from '../explore';
import { type LedgerBounds, ledgerScenario } from './ledger-scenario';

/** Ledgers on one table, with faults. */
export function ledgerScenarios(faults: number): Scenario[] {
  const all: Record<string, LedgerBounds> = {
    'two allocate': { owners: [], work: [{ allocate: ['a'] }, { allocate: ['b'] }], faults },
    'two allocate for one owner': { owners: [], work: [{ allocate: ['a'] }, { allocate: ['a', 'b'] }], faults },
    'one allocates, one releases': {
      owners: ['a'],
      work: [{ allocate: ['a', 'b'] }, { release: ['a'] }],
      faults: faults + 1,
    },
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
    'one releases, an administrator moves': {
      owners: ['a'],
      work: [{ release: ['a'] }, { move: 'a' }],
      faults: faults + 1,
    },
    'one allocates, one releases, an administrator moves': {
      owners: ['a'],
      work: [{ allocate: ['b'] }, { release: ['a'] }, { move: 'a' }],
      faults,
    },
    'one rebalances, an administrator moves': {
      owners: ['a', 'b', 'c', 'd'],
      skewed: true,
      work: [{ rebalance: 2 }, { move: 'a' }],
      faults,
    },
    'two rebalance': {
      owners: ['a', 'b', 'c', 'd'],
      skewed: true,
      work: [{ rebalance: 1 }, { rebalance: 2 }],
      faults,
    },
  };
  return Object.entries(all).map(([name, bounds]) => ledgerScenario(`ledgers, ${name}`, bounds));
}
