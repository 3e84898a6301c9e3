import type { Scenario } from '../explore';
import { type OutboxBounds, outboxScenario } from './outbox-scenario';

/** Workers that relay an outbox. One thing goes wrong in a run, and where there is one worker, so many. */
export function outboxScenarios(faults: number): Scenario[] {
  const committed = (...rows: string[]) => ({ rows, ends: 'commit' }) as const;
  const base: OutboxBounds = {
    workers: 2,
    writers: [committed('a1'), committed('a2')],
    ended: 1,
    windowRows: 2,
    rowsOfAKey: 2,
    fates: [],
    faults: 1,
  };
  const all: Record<string, OutboxBounds> = {
    'workers come and go': { ...base, fates: ['crashes', 'is told to end'] },
    'a lock is lost': { ...base, fates: ['loses its locks'] },
    'a lock is lost, rows are parked': { ...base, ended: 2, rowsOfAKey: 1, fates: ['loses its locks'] },
    'commits come late': {
      ...base,
      workers: 1,
      writers: [committed('a1', 'b1'), { rows: ['c1'], ends: 'rollback' }, committed('b2')],
      ended: 0,
      windowRows: 1,
      faults: 0,
    },
    'slots are emptied': { ...base, workers: 1, rowsOfAKey: 1, rotates: true, fates: ['crashes'] },
    'rows are refused': { ...base, workers: 1, ended: 2, windowRows: 1, faults },
  };
  return Object.entries(all).map(([name, bounds]) => outboxScenario(`the outbox, ${name}`, bounds));
}
