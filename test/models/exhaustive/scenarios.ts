import { countsScenarios } from './adaptive-counts/scenarios';
import { consumerScenarios } from './consumer/scenarios';
import type { Scenario } from './explore';
import { handOverScenarios } from './hand-over/scenarios';
import { outboxScenarios } from './outbox/scenarios';
import { producerScenarios } from './producer/scenarios';
import { ledgerScenarios } from './registry/scenarios';
import { reshardScenarios } from './resharding/scenarios';
import { straysScenarios } from './strays/scenarios';

/** The limits of exploring. */
interface Bound {
  /** The number of faults in a run. */
  readonly faults: number;
  /** The maximum number of runs of one scenario, including pruned runs. */
  readonly maxRuns: number;
}

/** `test` takes seconds in `npm run test:models`, `mutant` runs until a promise is broken, `full` takes hours. */
export const BOUNDS: Readonly<Record<'test' | 'mutant' | 'full', Bound>> = {
  test: { faults: 1, maxRuns: 200 },
  mutant: { faults: 2, maxRuns: 50_000 },
  full: { faults: 2, maxRuns: 1_000_000 },
};

/** All scenarios. A new scenario goes into the folder of its domain, which this list imports. */
export function scenariosOf({ faults }: Bound): Scenario[] {
  return [
    ...producerScenarios(faults),
    ...ledgerScenarios(faults),
    ...handOverScenarios(faults),
    ...countsScenarios(faults),
    ...reshardScenarios(faults),
    ...straysScenarios(faults),
    ...outboxScenarios(faults),
    ...consumerScenarios(faults),
  ];
}
