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
      writers: [{ begun: ['a1'], ...committed('b1') }, { begun: ['c1'], rows: [], ends: 'rollback' }, committed('b2')],
      ended: 0,
      windowRows: 1,
      faults: 0,
    },
    'a lower number is committed last': {
      ...base,
      workers: 1,
      writers: [
        { begun: ['writes elsewhere'], ...committed('a2') },
        { begun: ['b1'], ...committed() },
      ],
      ended: 0,
      faults: 0,
    },
    'a savepoint is rolled back': {
      ...base,
      workers: 1,
      writers: [
        { begun: ['a1', 'sets a savepoint'], ...committed('b2', 'rolls back to its savepoint') },
        committed('sets a savepoint', 'b3', 'releases its savepoint', 'c4'),
      ],
      ended: 0,
      faults: 0,
    },
    'one row, slots are emptied': { ...oneRow, workers: 1, rowsOfAKey: 1, rotates: true, fates: ['crashes'] },
    'slots are emptied': {
      ...base,
      workers: 1,
      rowsOfAKey: 1,
      rotates: true,
      fates: ['crashes'],
      faults: ['worker 1 crashes'],
    },
    'a lock is lost, and another worker crashes': {
      ...base,
      ended: 2,
      rowsOfAKey: 1,
      fates: ['loses its locks', 'crashes'],
      faults: ['worker 1 loses its locks', 'worker 2 crashes'],
    },
    'a lock is lost, a row is committed late': {
      ...base,
      writers: [committed('a1', 'a2'), { begun: ['a3'], ...committed() }],
      windowRows: 3,
      rowsOfAKey: 1,
      fates: ['loses its locks'],
      faults: ['worker 1 loses its locks'],
    },
    'the keys are divided': {
      ...base,
      writers: [committed('a1', 'a2')],
      parkedBefore: 1,
      divides: true,
      faults: ['an administrator divides'],
    },
    'a row comes while its key is parked': {
      ...base,
      workers: 1,
      writers: [committed('a1', 'a2'), committed('a3')],
      rowsOfAKey: 1,
      faults: 0,
    },
    'a row comes while rows of another key are sent': {
      ...base,
      workers: 1,
      writers: [committed('a1', 'b1', 'b2'), { begun: ['a2'], ...committed() }],
      parkedBefore: 3,
      rowsOfAKey: 1,
      faults: 0,
    },
    'a row is refused, and the next of another key': {
      ...base,
      workers: 1,
      writers: [committed('a1', 'b1', 'b2')],
      windowRows: 1,
      rowsOfAKey: 1,
      faults: ['worker 1 request 1 arrives, entry 1 refused', 'worker 1 request 2 arrives, entry 1 refused'],
    },
    'a row is refused while its worker ends': {
      ...oneRow,
      workers: 1,
      fates: ['is told to end'],
      faults: ['worker 1 is told to end', 'worker 1 request 1 arrives, entry 1 refused'],
    },
    'a row is refused, and then its producer is aborted': {
      ...oneRow,
      workers: 1,
      maxTries: 2,
      fates: ['has its producer aborted'],
      faults: [
        'worker 1 request 1 arrives, entry 1 refused',
        'worker 1 request 1 arrives, entry 1 refused',
        'worker 1 has its producer aborted',
      ],
    },
    'a connection falls silent': { ...base, workers: 1, ended: 2, rowsOfAKey: 1, fates: [], fallSilent: true },
    'a connection falls silent, and its worker is told to end': {
      ...oneRow,
      workers: 1,
      fates: ['is told to end'],
      fallSilent: true,
      faults: 2,
    },
    'rows are refused': { ...base, workers: 1, ended: 2, windowRows: 1, faults },
  };
  return Object.entries(all).map(([name, bounds]) => outboxScenario(`the outbox, ${name}`, bounds));
}
