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
  const oneRow = { ...base, writers: [committed('a1')] };
  const all: Record<string, OutboxBounds> = {
    'one row, workers come and go': { ...oneRow, fates: ['crashes', 'is told to end'] },
    'one row, a lock is lost': { ...oneRow, fates: ['loses its locks'] },
    'one worker comes and goes': { ...base, workers: 1, fates: ['crashes', 'is told to end'] },
    'workers come and go': { ...base, fates: ['crashes', 'is told to end'] },
    'a lock is lost': { ...base, fates: ['loses its locks'] },
    'rows are parked': { ...base, workers: 1, ended: 2, rowsOfAKey: 1, fates: ['crashes'] },
    'three rows are parked': {
      ...base,
      workers: 1,
      writers: [committed('a1', 'a2'), committed('a3')],
      ended: 2,
      rowsOfAKey: 1,
      faults: 0,
    },
    'a lock is lost, rows are parked': { ...base, ended: 2, rowsOfAKey: 1, fates: ['loses its locks'] },
    'two commits come late': {
      ...base,
      workers: 1,
      writers: [committed('a1'), committed('b2')],
      ended: 0,
      windowRows: 1,
      faults: 0,
    },
    'commits come late': {
      ...base,
      workers: 1,
      writers: [committed('a1', 'b1'), { rows: ['c1'], ends: 'rollback' }, committed('b2')],
      ended: 0,
      windowRows: 1,
      faults: 0,
    },
    'one row, slots are emptied': { ...oneRow, workers: 1, rowsOfAKey: 1, rotates: true, fates: ['crashes'] },
    'slots are emptied': { ...base, workers: 1, rowsOfAKey: 1, rotates: true, fates: ['crashes'] },
    'rows are refused': { ...base, workers: 1, ended: 2, windowRows: 1, faults },
  };
  return Object.entries(all).map(([name, bounds]) => outboxScenario(`the outbox, ${name}`, bounds));
}
