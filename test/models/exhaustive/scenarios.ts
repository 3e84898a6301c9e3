import { countsScenarios } from './adaptive-counts/scenarios';
import { consumerScenarios } from './consumer/scenarios';
import type { Scenario } from './explore';
import { pagesScenarios } from './fan-out/scenarios';
import { handOverScenarios } from './hand-over/scenarios';
import { countsInStepsScenarios } from './index/scenarios';
import { outboxScenarios } from './outbox/scenarios';
import { producerScenarios } from './producer/scenarios';
import { ledgerScenarios } from './registry/scenarios';
import { reshardScenarios } from './resharding/scenarios';
import { straysScenarios } from './strays/scenarios';
import { growthScenarios, moveScenarios } from './table/scenarios';

/** Where exploring ends. */
interface Bound {
  /** How many things go wrong in a run of the producer, of pages, and of ledgers. */
  readonly faults: number;
  /** How many items change between the pages of a query. */
  readonly changes: number;
  /** The most runs of one scenario, those that were left included. */
  readonly maxRuns: number;
}

/** `test` takes seconds, as a part of `npm run test:models`; `mutant` as long as it takes to break a promise; `full` hours. */
export const BOUNDS: Readonly<Record<'test' | 'mutant' | 'full', Bound>> = {
  test: { faults: 1, changes: 1, maxRuns: 200 },
  mutant: { faults: 2, changes: 1, maxRuns: 50_000 },
  full: { faults: 2, changes: 1, maxRuns: 1_000_000 },
};

/** Every scenario. A new one belongs into the folder of its domain, and from there into this list. */
export function scenariosOf({ faults, changes }: Bound): Scenario[] {
  return [
    ...producerScenarios(faults),
    ...pagesScenarios(faults, changes),
    ...ledgerScenarios(faults),
    ...handOverScenarios(faults),
    ...countsScenarios(faults),
    ...countsInStepsScenarios(),
    ...growthScenarios(),
    ...moveScenarios(faults),
    ...reshardScenarios(faults),
    ...straysScenarios(faults),
    ...outboxScenarios(faults),
    ...consumerScenarios(faults),
  ];
}
