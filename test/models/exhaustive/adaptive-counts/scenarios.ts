import type { Scenario } from '../explore';
import { countsScenario } from './counts-scenario';

/** The scenarios of processes that cache adaptive counts, with faults. */
export function countsScenarios(faults: number): Scenario[] {
  return [
    countsScenario('adaptive counts, stale readers and writers', {
      applications: 2,
      pages: 2,
      items: 1,
      raisers: 1,
      faults: 0,
    }),
    countsScenario('adaptive counts, two increases', {
      applications: 1,
      pages: 2,
      items: 1,
      raisers: 2,
      faults,
    }),
    countsScenario('adaptive counts, decreased and drained', {
      applications: 1,
      pages: 2,
      items: 2,
      raisers: 0,
      lowerTo: [1],
      faults: 0,
    }),
    countsScenario('adaptive counts, decreased and increased at the same time', {
      applications: 1,
      pages: 1,
      items: 1,
      raisers: 1,
      lowerTo: [1],
      faults: 0,
    }),
    countsScenario('adaptive counts, decreased twice', {
      applications: 1,
      pages: 1,
      items: 1,
      raisers: 0,
      lowerTo: [2, 1],
      faults: 0,
    }),
  ];
}
