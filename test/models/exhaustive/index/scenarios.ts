import type { Scenario } from '../explore';
import { countsInStepsScenario } from './counts-in-steps-scenario';

/** The shard count of an index increases and decreases. */
export function countsInStepsScenarios(): Scenario[] {
  return [
    countsInStepsScenario('an index in steps, more shards', { from: 1, to: 2, items: 1, pages: 2 }),
    countsInStepsScenario('an index in steps, fewer shards', { from: 2, to: 1, items: 1, pages: 2 }),
  ];
}
